// rope, split_rope, varlen_split_rope and their gradients, variants `fast` and `on_the_fly`:
// rotates Q and K, and copies V, in one launch at the speed of a plain copy.
//
//   (x', y') = (x cos - y sin, y cos + x sin)      q [T, Hq, d], k and v [T, Hkv, d], table [rows,
//   r] f32, f16, bf16 in memory, tensors and table; float32 arithmetic; one rounding.
//
// Mapping. The items (token, head) of Q, then of K, then of V are laid out in memory order; thread
// row y of a block takes one item, and each of its threads two packets of up to 16 bytes: one of
// each half of the rotated dims (HeadSlices). Consecutive blocks touch consecutive bytes, as a
// streaming kernel does. Each element is loaded once and stored once. Packed QKV is a matter of
// strides, a gradient of the sines' sign.
//
// `fast` reads the row of the table, shared by the heads of a token through L1. What hides the way
// position -> table row, two cold accesses one after the other, while a plain copy has one:
// * the position is asked for first, and its index is computed with 32-bit arithmetic alone;
// * the first blocks bring the table rows of a chunk of tokens into L2, ahead of the blocks that
// want them;
// * the launch overlaps the end of the one before (programmatic dependent launch);
// * few registers (two packets and a piece of a table row at a time), so that many threads wait at
// once. Chunks (grid y) also keep the table rows in L2 from Q to K, and offsets within 32 bits.
//
// `on_the_fly` has no table: while the block's loads are on their way, its threads form the cosines
// and sines of its one or two tokens in shared memory, from angles in fixed point.
//
// Bytes: 2 * T * (Hq + Hkv) * r elements in place; out of place d instead of r, and V; T table
// rows, T positions. Limits: why_not_fast().
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_

#include "kernels/cuda/device/params.cuh"
#include "kernels/cuda/device/rotation.cuh"

namespace rope_bench::device {

enum class FastMode {
  kInPlace,     // every thread rotates two packets
  kOutOfPlace,  // every thread rotates or copies two packets; the rotated dims are a head's first
  kGeneral,     // any layout, any source of positions, heads that do not share out evenly
};

// The two packets of a thread in the plain modes.
template <Pairing kPairing, int kElements, FastMode kMode>
ROPE_DEVICE Slice plain_slice(const HeadSlices& s, int lane) {
  constexpr bool kSplitPair = kPairing == Pairing::kGptj && kElements == 1;
  Slice slice;
  slice.has_first = slice.has_second = true;
  slice.rotates = kMode == FastMode::kInPlace || lane < s.lanes;
  slice.first = kSplitPair ? 2 * lane : lane;
  slice.second = kSplitPair ? 2 * lane + 1 : s.lanes + lane;
  if (!slice.rotates) {
    slice.first = s.packets + lane - s.lanes;
    slice.second = slice.first + s.pass_lanes;
  }
  return slice;
}

template <typename T, Source kSource, Pairing kPairing, int kBytes, FastMode kMode>
ROPE_KERNEL void ROPE_MAX_REGISTERS(40) rope_fast_kernel(ROPE_ARGUMENT VectorParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kPlain = kMode != FastMode::kGeneral;
  constexpr bool kAngles = kSource == Source::kAngles;
  constexpr bool kShares = kSharesFactors<kPairing, kElements>;
  // In place, a line is next touched by its store. Out of place, two halves of a line may be loaded
  // by two instructions: L1 keeps it from one to the other, unless its room is taken by factors.
  constexpr Hint kLoad = kMode == FastMode::kInPlace || kAngles ? Hint::kStream : Hint::kKeep;
  ROPE_SHARED(float, shared, kAngles ? kSharedFactors : 1);

  // Locate: which token and head this row of threads has.
  if (!kAngles && block_x() < p.walk.prefetch_blocks) {
    wait_for_previous_launch();
    prefetch_rows<kPlain>(p);
    return;
  }
  const Item item = item_of(p);
  const Items& items = items_of(p, item.role);
  const bool is_v = kMode != FastMode::kInPlace && item.role == Role::kV;
  const int lane = static_cast<int>(thread_x());
  wait_for_previous_launch();
  bool works = item.exists;
  if (!kAngles && !works) return;
  const int64_t token = p.walk.chunk_first() + item.token_in_chunk;
  Place at;
  Slice slice;
  const char* in;
  char* out;
  FactorRow<kSource> row{};
  const int half = static_cast<int>(p.half_dim.divisor);
  if constexpr (kPlain) {
    if constexpr (!kAngles) {
      const auto position = static_cast<uint32_t>(is_v ? 0 : p.tokens.id(token));
      row = FactorRow<kSource>::of_row(p.table, position, half, p.sine_flip);
    }
    in = items.operand.short_in_row(p.walk.chunk_first(), item.token_in_chunk, item.head);
    out = kMode == FastMode::kInPlace
              ? const_cast<char*>(in)
              : items.operand.short_out_row(p.walk.chunk_first(), item.token_in_chunk, item.head);
    slice = plain_slice<kPairing, kElements, kMode>(is_v ? p.v.slices : p.q.slices, lane);
  } else {
    if (works) at = p.tokens.locate(token);
    works = works && !at.is_padding;
    in = items.operand.in_row(at, item.head);
    out = items.operand.out_row(at, item.head);
    if constexpr (!kAngles) {
      if (!works) return;
      row = FactorRow<kSource>::of(p.table, at.position, half, p.sine_flip);
    }
    slice = items.slices.template slice<kPairing, kElements>(lane);
  }

  // Ask for what the block's angles are made of.
  BlockTokens tokens;
  constexpr bool kLooksUp = kAngles && !kPlain;
  ROPE_SHARED(float, positions, kLooksUp ? kSharedPositions : 1);
  [[maybe_unused]] auto factors = block_factors<!kLooksUp>(p, item, &tokens, positions);
  if constexpr (kAngles) factors.begin();

  if constexpr (kShares && !kAngles) {
    if (p.swaps_halves && slice.rotates) {
      const int first = slice.first;
      slice.first = slice.second;
      slice.second = first;
    }
  }

  // Load two packets: to be rotated together, or both to be copied.
  const bool has_first = works && slice.has_first, has_second = works && slice.has_second;
  Packet<kBytes> x{}, y{};
  if (has_first) x = load<kBytes, kLoad>(in + slice.first * kBytes);
  if (has_second) y = load<kBytes, kLoad>(in + slice.second * kBytes);
  let_next_launch_start();

  // Form the factors of the block's tokens.
  if constexpr (kAngles) {
    if (!is_v) {
      factors.finish(shared);
      sync_block();
      row = shared_row<kSource>(p, item, tokens, shared);
    }
  }

  // Rotate.
  if (slice.rotates && has_first) {
    if constexpr (kShares) {
      rotate_halves<T>(x, y, row.from(lane * kElements));
    } else {
      constexpr int kPairs = kElements / 2;
      rotate_adjacent<T>(x, row.from(slice.first * kPairs));
      if (has_second) rotate_adjacent<T>(y, row.from(slice.second * kPairs));
    }
  }

  // Store.
  if (has_first) store<Hint::kStream>(out + slice.first * kBytes, x);
  if (has_second) store<Hint::kStream>(out + slice.second * kBytes, y);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
