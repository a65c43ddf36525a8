// norm_split_rope with a norm per head, and split ops with a bias: bias, RMS norm, rotation and
// split in one pass. Variants `fast`, `on_the_fly`, and `per_head` (with narrow packets: a warp per
// head).
//
//   q, k: rotate(norm(x + bias)), or norm(rotate(x + bias)); v + bias
//   f32, f16, bf16 in memory; float32 from load to store; one rounding. round_between rounds to the
//   element type between norm and rotation, as two launches do.
//
// Mapping. As plain.cuh: items (token, head) in memory order, a row of threads per head, two
// packets a thread. The row is padded to a power of two, so that its sum of squares is a few
// shuffles among neighbours; no shared memory. Heads wider than a warp's packets take a block, and
// meet in shared memory.
//
// Bytes: every row of q, k and v read and written once; T table rows, T positions; bias and
// weights. Limits: why_not_fused().
#ifndef ROPE_BENCH_KERNELS_CUDA_FUSED_CUH_
#define ROPE_BENCH_KERNELS_CUDA_FUSED_CUH_

#include "kernels/cuda/fused_slice.cuh"

namespace rope_bench::device {

// The sum of the head's squares, and of scaled ones if some sum of the warp left the range: all
// threads of the warp or block come.
template <typename T, int kBytes>
ROPE_DEVICE NormScale head_norm(const FusedParams& p, bool is_q, const FusedSlice<T, kBytes>& s,
                                float* shared) {
  float scaled_sum = 0;
  if (p.group <= 32) {
    const float sum = sum_lanes(s.squares(1.0f), p.group);
    if (any_in_warp(left_range(sum))) scaled_sum = sum_lanes(s.squares(kDownScale), p.group);
    return norm_scale(p.norm, is_q, sum, scaled_sum);
  }
  const float sum = sum_block(s.squares(1.0f), shared);
  if (left_range(sum)) scaled_sum = sum_block(s.squares(kDownScale), shared + kMostWarps);
  return norm_scale(p.norm, is_q, sum, scaled_sum);
}

template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_KERNEL void rope_fused_kernel(ROPE_ARGUMENT FusedParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  ROPE_SHARED(float, factors, kAngles ? kSharedFactors : 1);
  ROPE_SHARED(float, sums, 2 * kMostWarps);
  const VectorParams& vector = p.vector;

  // Locate. Threads without work stay: the others of their warp wait for them.
  if (!kAngles && block_x() < vector.walk.prefetch_blocks) {
    wait_for_previous_launch();
    prefetch_rows(vector);
    return;
  }
  const Item item = item_of(vector);
  const Items& items = items_of(vector, item.role);
  const int lane = static_cast<int>(thread_x());
  wait_for_previous_launch();
  Place at;
  if (item.exists) at = vector.tokens.locate(vector.walk.chunk_first() + item.token_in_chunk);
  const bool works = item.exists && !at.is_padding;

  // Load.
  FusedSlice<T, kBytes> s;
  s.slice = items.slices.template slice<kPairing, kElements>(lane);
  s.has_first = works && s.slice.has_first;
  s.has_second = works && s.slice.has_second;
  const char* in = items.operand.in_row(at, item.head);
  char* out = items.operand.out_row(at, item.head);
  // What nothing happens to. (Nobody waits for those threads: a norm has every thread of q and k.)
  const bool changes =
      p.bias != nullptr || (item.role != Role::kV && (p.norm.given || s.slice.rotates));
  if (!changes) {
    s.copy(in, out);
    return;
  }
  s.load_from(in);
  let_next_launch_start();

  // Where the factors are.
  FactorRow<kSource> row{};
  if constexpr (kAngles) {
    ROPE_SHARED(float, positions, kSharedPositions);
    if (item.role != Role::kV) {
      BlockTokens tokens;
      block_factors(vector, item, &tokens, positions).form(factors);
      sync_block();
      row = shared_row<kSource>(vector, item, tokens, factors);
    }
  } else {
    row = FactorRow<kSource>::of(vector.table, at.position,
                                 static_cast<int>(vector.half_dim.divisor), vector.sine_flip);
  }

  // Bias.
  if (p.bias != nullptr) {
    s.add_bias_of(
        parameters_at(p.bias, p, bias_head(vector, item.role, item.head), items.slices, kBytes));
  }
  // Norm and rotation, or the other way round.
  if (item.role != Role::kV) {
    const char* weights = item.role == Role::kQ ? p.norm.q_weight : p.norm.k_weight;
    if (weights != nullptr) weights = parameters_at(weights, p, 0, items.slices, kBytes);
    if (p.norm.after_rotation) s.template rotate<kPairing>(row, lane);
    if (p.norm.given) {
      if (p.norm.round_between && p.norm.after_rotation) s.round();
      s.normalize(head_norm(p, item.role == Role::kQ, s, sums), weights, p.norm.weight_offset);
      if (p.norm.round_between && !p.norm.after_rotation) s.round();
    }
    if (!p.norm.after_rotation) s.template rotate<kPairing>(row, lane);
  }
  // Store.
  s.store_to(out);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_FUSED_CUH_
