// norm_split_rope with a norm over all heads of a token, the common case of row_norm.cuh: norm
// before rotation, no bias, tokens one after the other, and a token that fits a block.
//
// Mapping. A block takes one token: whole warps for its heads of Q, then of K, then of V, each
// thread two packets of up to 16 bytes, loaded once and kept from the sum of squares to the store.
// Both sums are made of the warps' sums in shared memory.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_

#include "kernels/cuda/norm_plain.cuh"

namespace rope_bench::device {

struct RowPlainParams {
  FusedParams fused;
  Divisor head_threads;
  // Where the threads of k and v begin, and where all end: multiples of a warp.
  uint32_t k_first = 0, v_first = 0, end = 0;
};

// Sum of the warps' sums [first, last).
ROPE_DEVICE float sum_warps(const float* sums, uint32_t first, uint32_t last) {
  float sum = 0;
  for (uint32_t warp = first; warp < last; ++warp) sum += sums[warp];
  return sum;
}

template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_KERNEL void ROPE_MAX_REGISTERS(40) rope_row_norm_plain_kernel(ROPE_ARGUMENT RowPlainParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  ROPE_SHARED(float, shared, kAngles ? kSharedFactors : 1);
  ROPE_SHARED(float, sums, 2 * kMostWarps);
  const VectorParams& vector = p.fused.vector;

  // Locate.
  const int64_t token = block_x();
  const uint32_t thread = thread_x();
  const Role role = thread < p.k_first ? Role::kQ : thread < p.v_first ? Role::kK : Role::kV;
  const Items& items = items_of(vector, role);
  const uint32_t index = thread - (role == Role::kQ ? 0 : role == Role::kK ? p.k_first : p.v_first);
  const uint32_t head = p.head_threads.small_quotient(index);
  const int lane = static_cast<int>(index - head * p.head_threads.divisor);
  const bool exists = head < items.operand.heads.divisor;
  wait_for_previous_launch();
  const TokenMap::Asked position = vector.tokens.ask(token);
  const auto position_of = [&](uint32_t) { return position; };
  BlockFactors<decltype(position_of)> factors{vector.angles,    token,       1, vector.half_dim,
                                              vector.sine_flip, position_of, {}};
  if constexpr (kAngles) factors.begin();

  // Load.
  const char* in = items.operand.in_row(token, head);
  const Slice slice = plain_slice<kPairing, kElements, FastMode::kOutOfPlace>(items.slices, lane);
  Packet<kBytes> x{}, y{};
  if (exists) {
    x = load<kBytes, Hint::kStream>(in + slice.first * kBytes);
    y = load<kBytes, Hint::kStream>(in + slice.second * kBytes);
  }
  let_next_launch_start();
  const bool is_q = role == Role::kQ;
  const char* weights = is_q ? p.fused.norm.q_weight : p.fused.norm.k_weight;
  SliceNorm<T, kBytes> norm;
  Factors<kNormPiece<kElements>> first_factors{};
  FactorRow<kSource> row{};
  if (role != Role::kV) {
    // Threads behind the last head have the weights of the first.
    const int64_t of_head = exists ? static_cast<int64_t>(head) * p.fused.head_bytes : 0;
    norm.load(weights == nullptr ? nullptr : weights + of_head, slice);
    if constexpr (!kAngles) {
      row =
          ask_factors<T, kSource, kPairing, kBytes>(vector, position, slice, lane, &first_factors);
    }
  }

  // Both norms.
  const auto sum_roles = [&](float scale, float* of_warps, float* q_sum, float* k_sum) {
    const float sum = sum_lanes(packet_squares<T>(x, scale) + packet_squares<T>(y, scale), 32);
    if (thread % 32 == 0) of_warps[thread / 32] = sum;
    sync_block();
    *q_sum = sum_warps(of_warps, 0, p.k_first / 32);
    *k_sum = sum_warps(of_warps, p.k_first / 32, p.v_first / 32);
  };
  float q_sum, k_sum, scaled_q_sum = 0, scaled_k_sum = 0;
  if constexpr (kAngles) factors.finish(shared);  // read behind the sync_block() of the sums
  sum_roles(1.0f, sums, &q_sum, &k_sum);
  if (left_range(q_sum) || left_range(k_sum))
    sum_roles(kDownScale, sums + kMostWarps, &scaled_q_sum, &scaled_k_sum);
  if (!exists) return;

  if (role != Role::kV) {
    const float factor =
        norm_scale(p.fused.norm, is_q, is_q ? q_sum : k_sum, is_q ? scaled_q_sum : scaled_k_sum)
            .in_one();
    // Rotate.
    if constexpr (kAngles) {
      row = FactorRow<kSource>::of_shared(shared, static_cast<int>(vector.half_dim.divisor));
      if constexpr (kSharesFactors<kPairing, kElements>) {
        if (slice.rotates)
          first_factors = row.template load<kNormPiece<kElements>>(lane * kElements);
      }
    }
    // Weights of ones have no offset.
    const float offset = weights == nullptr ? 0.0f : p.fused.norm.weight_offset * factor;
    norm_rotate_slice<T, kPairing>(x, y, slice, lane, norm, factor, offset, first_factors, row);
  }

  // Store.
  char* out = items.operand.out_row(token, head);
  store<Hint::kStream>(out + slice.first * kBytes, x);
  store<Hint::kStream>(out + slice.second * kBytes, y);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_
