// rope, split_rope, varlen_split_rope and their gradients in any layout: variants `fast`,
// `on_the_fly` and `per_head` where plain.cuh has no answer. Tokens anywhere, positions from any
// source, padding, heads that do not share out evenly.
//
//   (x', y') = (x cos - y sin, y cos + x sin)      q [T, Hq, d], k and v [T, Hkv, d], table [rows,
//   r] f32, f16, bf16 in memory, tensors and table; float32 arithmetic; one rounding.
//
// Mapping as in plain.cuh; a thread may have two packets of a head, one, or none, and each token is
// looked up.
//
// Bytes: 2 * T * (Hq + Hkv) * r elements in place; out of place d instead of r, and V; T table
// rows, T positions. Limits: why_not_vector().
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_CUH_

#include "kernels/cuda/device/params.cuh"
#include "kernels/cuda/device/rotation.cuh"

namespace rope_bench::device {

template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_KERNEL void ROPE_MAX_REGISTERS(40) rope_general_kernel(ROPE_ARGUMENT VectorParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  constexpr bool kShares = kSharesFactors<kPairing, kElements>;
  // Two halves of a line may be loaded by two instructions: L1 keeps it from one to the other,
  // unless its room is taken by factors.
  constexpr Hint kLoad = kAngles ? Hint::kStream : Hint::kKeep;
  ROPE_SHARED(float, shared, kAngles ? kSharedFactors : 1);

  // Locate: which token and head this row of threads has, and where they are.
  if (!kAngles && block_x() < p.walk.prefetch_blocks) {
    wait_for_previous_launch();
    prefetch_rows(p);
    return;
  }
  const Item item = item_of(p);
  const Items& items = items_of(p, item.role);
  const int lane = static_cast<int>(thread_x());
  wait_for_previous_launch();
  Place at;
  if (item.exists) at = p.tokens.locate(p.walk.chunk_first() + item.token_in_chunk);
  const bool works = item.exists && !at.is_padding;
  if (!kAngles && !works) return;
  const char* in = items.operand.in_row(at, item.head);
  char* out = items.operand.out_row(at, item.head);
  Slice slice = items.slices.template slice<kPairing, kElements>(lane);
  FactorRow<kSource> row{};
  if constexpr (!kAngles) {
    const int half = static_cast<int>(p.half_dim.divisor);
    row = FactorRow<kSource>::of(p.table, at.position, half, p.sine_flip);
    if (kShares && p.swaps_halves && slice.rotates) {
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
    ROPE_SHARED(float, positions, kSharedPositions);
    if (item.role != Role::kV) {
      BlockTokens tokens;
      block_factors(p, item, &tokens, positions).form(shared);
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

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_CUH_
