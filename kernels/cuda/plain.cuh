// The common case of rope, split_rope, norm_split_rope with a norm per head, of the gradients, and
// of varlen_split_rope with a packed output: tokens one after the other, heads that share out
// evenly among threads. Variants `fast`, `on_the_fly`, `per_head`, and the launches of `unfused`.
// In one launch, at the speed of a plain copy.
//
//   q, k: rotate(norm(x)), norm where there is one; v copied
//   (x', y') = (x cos - y sin, y cos + x sin)
//   f32, f16, bf16 in memory, tensors and table; float32 arithmetic; one rounding.
//
// Mapping. The items (token, group of heads) of Q, then of K, then of V are laid out in memory
// order; thread row y of a block takes one, and each of its threads two packets of up to 16 bytes
// of each head: one of each half of the rotated dims. Consecutive blocks touch consecutive bytes,
// as a streaming kernel does. Each element is loaded once and stored once. Packed QKV is a matter
// of strides, a gradient of which half comes first. A group is one head; or two, where there is
// more to compute than to wait for: factors, weights and addresses serve both.
//
// A norm's sum of squares is a few shuffles among the threads of a head: a power of two of them,
// within a warp.
//
// With a table (`fast`), its row is shared by the heads of a token through L1. What hides the way
// position -> table row, two cold accesses one after the other, while a plain copy has one:
// * the addresses of everything else are computed before the launch may touch memory, and the
//   position is asked for first;
// * the launch overlaps the end of the one before (programmatic dependent launch), and its first
//   blocks bring the table rows of a chunk of tokens into L2 meanwhile, ahead of the blocks that
//   want them;
// * few registers, so that many threads wait at once. Chunks (grid y) also keep the table rows in
//   L2 from Q to K.
//
// Where there is more to compute than a copy leaves time for, the last warp of a block brings the
// tensors of a later block into L2 while all wait for their own: these then have a shorter way, and
// memory works on while blocks compute.
//
// Without (`on_the_fly`), while the block's loads are on their way its threads form the cosines and
// sines of its few tokens in shared memory, from angles in fixed point. Where each thread's angle
// comes from is known before the launch may touch memory, so that nothing is computed between the
// wait and the loads.
//
// Bytes: 2 * T * (Hq + Hkv) * r elements in place; out of place, and with a norm, d instead of r,
// and V out of place; T table rows, T positions; the weights. Limits: is_plain().
#ifndef ROPE_BENCH_KERNELS_CUDA_PLAIN_CUH_
#define ROPE_BENCH_KERNELS_CUDA_PLAIN_CUH_

#include "kernels/cuda/device/plain_steps.cuh"

namespace rope_bench::device {

enum class PlainMode {
  kInPlace,     // every thread rotates; nothing else happens
  kOutOfPlace,  // every thread rotates or copies
  kNorm,        // every thread of q and k norms, and rotates or not; in place or not
};

// As many blocks as fit are not always best: where angles are formed, more registers bring their
// threads to the barrier sooner. What spills costs far more than either.
constexpr int plain_registers(Source source, PlainMode mode, int bytes, int heads) {
  if (heads == 2) return mode == PlainMode::kNorm ? 64 : 56;
  if (bytes < 16) return 40;
  return mode == PlainMode::kNorm ? 56 : source == Source::kAngles ? 48 : 40;
}

template <typename T, Source kSource, Pairing kPairing, int kBytes, int kHeads, PlainMode kMode,
          Tokens kTokens>
ROPE_KERNEL void ROPE_MAX_REGISTERS(plain_registers(kSource, kMode, kBytes, kHeads))
    rope_plain_kernel(ROPE_ARGUMENT PlainParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  constexpr bool kNorm = kMode == PlainMode::kNorm;
  constexpr bool kPacked = kTokens != Tokens::kInOrder;
  constexpr bool kSequences = kTokens == Tokens::kSequences;
  // Where there is something to compute behind the loads.
  constexpr bool kBusy = kAngles || kPacked;
  // Wherever fast and on_the_fly ask for it: the code alone costs registers.
  constexpr bool kAhead = kBytes == 16 && kBusy;
  using Heads = PlainHeads<T, kPairing, kBytes, kHeads, kNorm>;
  // In place, a line is next touched by its store. Out of place, two halves of a line may be loaded
  // by two instructions: L1 keeps it from one to the other, unless its room is taken by factors.
  constexpr Hint kLoad = kMode == PlainMode::kInPlace || kAngles ? Hint::kStream : Hint::kKeep;
  ROPE_SHARED(float, shared, kAngles ? plain_shared_factors(kHeads) : 1);

  // Locate.
  if constexpr (!kAngles) {
    if (block_x() < p.prefetch_blocks) {
      prefetch_rows<kTokens>(p);
      if (kNorm && block_x() == 0) prefetch_weights(p);
      return;
    }
  }
  const uint32_t block = block_x() - p.prefetch_blocks;
  const PlainItem item = plain_item<kHeads>(p, block, thread_y());
  const PlainOperand& o = *item.operand;
  // Threads that have nothing to do stay where others wait for them.
  if (!kAngles && !kNorm && !kPacked && !item.exists) return;
  const uint32_t token = p.chunk_first() + item.token_in_chunk;
  const int lane = static_cast<int>(thread_x());
  const auto slice =
      plain_slice<kPairing, kBytes, kElements, kMode == PlainMode::kInPlace>(o, lane);
  const char* in = plain_address(p, item, slice);
  const char* position_at = p.position_at(kPacked && !item.exists ? 0 : token);
  // Of the pairs in the thread's first packets.
  constexpr int kFactorBytes = FactorRow<kSource>::kSize;
  constexpr int kLanePairs = Heads::kShares ? kElements : kElements / 2;
  const char* table = kAngles ? nullptr : p.table + lane * kLanePairs * kFactorBytes;
  const bool turns = kMode == PlainMode::kInPlace || o.lanes > 0;  // heads of this operand
  BlockTokens tokens;
  [[maybe_unused]] PackedSequence sequence;
  [[maybe_unused]] auto factors =
      plain_factors<kTokens, kLanePairs>(p, item, turns, sequence, &tokens);
  settle(in);
  settle(position_at);
  settle(table);
  // Nothing lies at null: what a branch looks at has been computed before it, and so before the
  // wait, where settle() alone is no promise. Other kernels have a branch there anyway; with a norm
  // it costs more than it brings.
  if constexpr (!kAngles && !kSequences && !kNorm) {
    if (in == nullptr || position_at == nullptr || table == nullptr) return;
  }
  // Threads look up together the sequence of the first token of their warp, mostly that of all.
  const bool together = kSequences && block_dim_x() * block_dim_y() % 32 == 0;
  const uint32_t warp_token = together ? value_in_warp(token, 0) : 0;
  if constexpr (kAngles) {
    factors.aim(p.positions, p.position_bytes);
    if (block_x() == 0) {
      prefetch_angles<kTokens>(p);
      if (kNorm) prefetch_weights(p);
    }
  }
  wait_for_previous_launch();

  // Load.
  bool works = item.exists;
  uint32_t position = 0;
  // Behind that branch the compiler moves a load_constant() before the wait.
  if (!kAngles && !kPacked && turns && works) {
    position = (kNorm ? load_constant<4>(position_at) : load<4, Hint::kKeep>(position_at)).word[0];
  }
  const auto ask_at = [&p](const char* at, uint32_t of_token) {
    return p.packed.ask_at<kTokens>(at, of_token);
  };
  [[maybe_unused]] TokenMap::Asked own;
  if constexpr (kTokens == Tokens::kOwn && !kAngles) own = ask_at(position_at, token);
  // Tensors first: they come from afar. But where registers are short, what they leave is not
  // enough to ask for the rest.
  constexpr bool kFactorsFirst = kNorm && kHeads == 2;
  if constexpr (kAngles && kFactorsFirst) factors.begin(ask_at);
  Heads heads;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    // Norms' sums and the turn of an odd last head read even what is not loaded. (Threads of the
    // remaining kernels have nothing to load only where they return before they use it.)
    if constexpr (kAngles || kNorm || kHeads == 2) heads.head[h] = {};
    if (!works || (kHeads > 1 && item.head + h >= o.num_heads)) continue;
    const char* at = in + static_cast<uint64_t>(h) * o.in_head_stride;
    heads.head[h].x = load<kBytes, kLoad>(at);
    heads.head[h].y = load<kBytes, kLoad>(at + slice.step);
  }
  if constexpr (kAngles && !kFactorsFirst) factors.begin(ask_at);
  if constexpr (kTokens == Tokens::kOwn && kAngles) own = ask_at(position_at, token);
  [[maybe_unused]] PackedTokens::Entries entries;
  if (together) entries = p.packed.ask_in_warp(warp_token, thread_of_block() % 32);
  let_next_launch_start();
  if (kAhead && p.ahead != 0) prefetch_block<kHeads>(p, block + p.ahead);
  const auto out_address = [&]() -> char* {
    if (kMode == PlainMode::kInPlace) return const_cast<char*>(in);
    return o.out + static_cast<uint64_t>(token) * o.out_token_stride +
           (item.head * o.out_head_stride + static_cast<uint32_t>(slice.first));
  };
  // While loads are on their way, where there is something to wait for; else when they are here.
  char* out = nullptr;
  uint32_t factors_at = 0;  // in shared memory, of the thread's first pair
  if constexpr (kBusy) {
    out = out_address();
    settle(out);
  }
  if constexpr (kAngles) {
    factors_at = (item.token_in_chunk - tokens.first) * 2 * p.half_dim.divisor +
                 lane_place<kLanePairs>(thread_x());
    settle(factors_at);
  }
  if (together) sequence = p.packed.sequence_in_warp(entries, warp_token, thread_of_block() % 32);
  if constexpr (kPacked) {
    // Padding has been read, and is not written.
    if (works) {
      const int64_t found = kSequences ? p.packed.locate(token, sequence) : own.value();
      works = found >= 0;
      position = static_cast<uint32_t>(found);
    }
    if (!kAngles && !works) return;
  }
  if constexpr (kNorm) {
    if (item.operand != &p.v) heads.weights[0].load(o, slice, 0);
  }
  FactorRow<kSource> row{};
  typename Heads::FirstFactors first_factors{};
  if constexpr (!kAngles) {
    const char* cosines = table + static_cast<uint64_t>(position) * p.row_stride;
    row = {cosines, cosines + p.sines, kNorm ? 0 : p.sine_flip, p.is_bf16};
    if constexpr (Heads::kShares) {
      if (turns && slice.rotates && works) first_factors = row.template load<Heads::kCount>(0);
    }
  }

  // Norm; the factors before it, while loads are on their way.
  if constexpr (kAngles) {
    if (turns) factors.finish(shared);
  }
  if constexpr (kNorm) {
    if (item.operand != &p.v) {
      heads.offset = o.weight_offset;
      norm_factors(heads, o, p.eps, block_dim_x());
    }
  }

  // Rotate.
  if constexpr (kAngles) {
    if (turns) sync_block();
  }
  // Nobody waits any more, and behind the last token there are no factors.
  if (!works) return;
  if constexpr (kAngles) {
    if (turns) {
      const auto half = static_cast<int>(p.half_dim.divisor);
      row = FactorRow<kSource>::template of_lane<kLanePairs>(shared + factors_at, half);
      if constexpr (Heads::kShares) {
        if (slice.rotates) first_factors = row.template load<Heads::kCount>(0);
      }
    }
  }
  if (turns && slice.rotates) {
    heads.turn(first_factors, row, o.lanes * kLanePairs);
  } else if constexpr (kNorm) {
    if (item.operand != &p.v) heads.only_norm();
  }

  // Store.
  if constexpr (!kBusy) out = out_address();
  const uint32_t head_stride = kMode == PlainMode::kInPlace ? o.in_head_stride : o.out_head_stride;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    if (kHeads > 1 && item.head + h >= o.num_heads) continue;
    char* at = out + static_cast<uint64_t>(h) * head_stride;
    store<Hint::kStream>(at, heads.head[h].x);
    store<Hint::kStream>(at + slice.step, heads.head[h].y);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_PLAIN_CUH_
