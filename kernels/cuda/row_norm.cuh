// norm_split_rope with a norm over all heads of a token (OLMo-2, MiniMax-M2): variants `fast` and
// `on_the_fly`.
//
// Mapping. A block takes one token's heads of Q, of K, or of V; each thread two packets of a head
// at a time, in steps of the block. The first step stays in registers from the sum of squares to
// the store; what does not fit there is loaded a second time, from L1 or L2.
//
// Otherwise as fused.cuh. Limits: why_not_row_norm().
#ifndef ROPE_BENCH_KERNELS_CUDA_ROW_NORM_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROW_NORM_CUH_

#include "kernels/cuda/fused_slice.cuh"

namespace rope_bench::device {

struct RowNormParams {
  FusedParams fused;
  Divisor rows_per_token;  // 2, or 3 with V
  Divisor head_threads;    // threads that a head would take
};

// One token's heads of one operand. Thread `index` of them has two packets of one head.
template <typename T, Source kSource, Pairing kPairing, int kBytes>
struct TokenRow {
  const RowNormParams& params;
  const Items& items;
  Role role;
  Place at;
  FactorRow<kSource> factors;

  ROPE_DEVICE uint32_t count() const {
    return items.operand.heads.divisor * params.head_threads.divisor;
  }
  ROPE_DEVICE uint32_t head_of(uint32_t index) const {
    return params.head_threads.small_quotient(index);
  }
  ROPE_DEVICE int lane_of(uint32_t index) const {
    return static_cast<int>(index - head_of(index) * params.head_threads.divisor);
  }

  ROPE_DEVICE void select(uint32_t index, FusedSlice<T, kBytes>& s) const {
    s.slice = items.slices.template slice<kPairing, kBytes / T::kSize>(lane_of(index));
    const bool exists = !at.is_padding && index < count();
    s.has_first = exists && s.slice.has_first;
    s.has_second = exists && s.slice.has_second;
  }
  ROPE_DEVICE void copy(uint32_t index, FusedSlice<T, kBytes>& s) const {
    select(index, s);
    s.copy(items.operand.in_row(at, head_of(index)), items.operand.out_row(at, head_of(index)));
  }
  // Loads, adds the bias, and turns where the norm comes last.
  ROPE_DEVICE void take(uint32_t index, FusedSlice<T, kBytes>& s) const {
    const FusedParams& p = params.fused;
    const uint32_t head = head_of(index);
    select(index, s);
    s.load_from(items.operand.in_row(at, head));
    if (p.bias != nullptr) {
      s.add_bias_of(
          parameters_at(p.bias, p, bias_head(p.vector, role, head), items.slices, kBytes));
    }
    if (role == Role::kV || !p.norm.after_rotation) return;
    s.template rotate<kPairing>(factors, lane_of(index));
    if (p.norm.round_between) s.round();
  }
  // What remains to be done, and the store.
  ROPE_DEVICE void finish(uint32_t index, const NormScale& norm, FusedSlice<T, kBytes>& s) const {
    const FusedParams& p = params.fused;
    const uint32_t head = head_of(index);
    if (role != Role::kV) {
      const char* weights = role == Role::kQ ? p.norm.q_weight : p.norm.k_weight;
      if (weights != nullptr) weights = parameters_at(weights, p, head, items.slices, kBytes);
      s.normalize(norm, weights, p.norm.weight_offset);
      if (!p.norm.after_rotation) {
        if (p.norm.round_between) s.round();
        s.template rotate<kPairing>(factors, lane_of(index));
      }
    }
    s.store_to(items.operand.out_row(at, head));
  }
};

// A block may have 1024 threads.
template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_KERNEL void ROPE_MAX_REGISTERS(64) rope_row_norm_kernel(ROPE_ARGUMENT RowNormParams params) {
  constexpr bool kAngles = kSource == Source::kAngles;
  ROPE_SHARED(float, factors, kAngles ? kSharedFactors : 1);
  ROPE_SHARED(float, sums, 2 * kMostWarps);
  const FusedParams& p = params.fused;
  const VectorParams& vector = p.vector;

  // Locate.
  const int64_t token = params.rows_per_token.small_quotient(block_x());
  const auto role = static_cast<Role>(block_x() - token * params.rows_per_token.divisor);
  const Items& items = items_of(vector, role);
  wait_for_previous_launch();
  const Place at = vector.tokens.locate(token);
  const int half = static_cast<int>(vector.half_dim.divisor);
  TokenRow<T, kSource, kPairing, kBytes> row{params, items, role, at, {}};
  if constexpr (kAngles) {
    if (role != Role::kV) {
      const auto position_of = [&](uint32_t) { return TokenMap::known(at.position); };
      BlockFactors<decltype(position_of)> of_token{vector.angles,    token,      1, vector.half_dim,
                                                   vector.sine_flip, position_of};
      of_token.form(factors);
      sync_block();
      row.factors = FactorRow<kSource>::of_shared(factors, half);
    }
  } else {
    row.factors = FactorRow<kSource>::of(vector.table, at.position, half, vector.sine_flip);
  }

  const uint32_t thread = thread_x(), step = block_dim_x(), count = row.count();
  FusedSlice<T, kBytes> kept, other;
  if (role == Role::kV && p.bias == nullptr) {
    for (uint32_t i = thread; i < count; i += step) row.copy(i, kept);
    return;
  }

  // Load; the sum of squares.
  row.take(thread, kept);
  let_next_launch_start();
  NormScale norm;
  if (role != Role::kV) {
    const auto squares = [&](float scale) {
      float sum = kept.squares(scale);
      for (uint32_t i = thread + step; i < count; i += step) {
        row.take(i, other);
        sum += other.squares(scale);
      }
      return sum;
    };
    const float sum = sum_block(squares(1.0f), sums);
    float scaled_sum = 0;
    if (left_range(sum)) scaled_sum = sum_block(squares(kDownScale), sums + kMostWarps);
    norm = norm_scale(p.norm, role == Role::kQ, sum, scaled_sum);
  }

  // Norm, rotate, store.
  row.finish(thread, norm, kept);
  for (uint32_t i = thread + step; i < count; i += step) {
    row.take(i, other);
    row.finish(i, norm, other);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROW_NORM_CUH_
