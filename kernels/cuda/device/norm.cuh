// RMS norm: x / sqrt(mean(x^2) + eps) * (weight + offset), statistics in float32.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_NORM_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_NORM_CUH_

#include "kernels/cuda/device/element.cuh"
#include "kernels/kernel_api.h"

namespace rope_bench::device {

// A sum of squares that left float32's range is taken again of numbers scaled down by this: then
// even the largest floats fit, and what vanishes is far below what made the sum so large.
inline constexpr float kDownScale = 0x1p-80f;
inline constexpr float kLargestFloat = 0x1.fffffep127f;

struct NormParams {
  const char* q_weight = nullptr;  // null: 1
  const char* k_weight = nullptr;
  float eps = 0;
  float weight_offset = 0;
  float q_inverse_count = 0;  // 1 / elements that a mean is over
  float k_inverse_count = 0;
  bool given = false;
  bool after_rotation = false;
  bool round_between = false;
};

inline NormParams norm_params(const RopeKernelArgs& args) {
  NormParams p;
  p.given = args.norm != ROPE_NORM_NONE;
  if (!p.given) return p;
  p.q_weight = static_cast<const char*>(args.q_weight);
  p.k_weight = static_cast<const char*>(args.k_weight);
  p.eps = args.norm_eps;
  p.weight_offset = args.weight_offset;
  const bool row = args.norm == ROPE_NORM_ROW;
  const auto count = [&](const RopeTensor& t) {
    return static_cast<float>(int64_t{row ? t.num_heads : 1} * args.head_dim);
  };
  p.q_inverse_count = 1.0f / count(args.q);
  p.k_inverse_count = 1.0f / count(args.k);
  p.after_rotation = args.norm_after != 0;
  p.round_between = args.round_between != 0;
  return p;
}

// x becomes x * scale * factor, where scale is 1 but for sums that left the range.
struct NormScale {
  float scale = 1, factor = 1;
  // Both at once. For numbers near the largest float the product is subnormal, and has still 21
  // bits.
  ROPE_DEVICE float in_one() const { return scale * factor; }
};

ROPE_DEVICE bool left_range(float sum) { return !(sum <= kLargestFloat); }

// From the sum of squares, or if that left the range from the sum of scaled squares.
ROPE_DEVICE NormScale norm_scale(float eps, float inverse_count, float sum, float scaled_sum) {
  if (left_range(sum)) {
    return {kDownScale, inverse_sqrt(scaled_sum * inverse_count + eps * kDownScale * kDownScale)};
  }
  return {1.0f, inverse_sqrt(sum * inverse_count + eps)};
}
ROPE_DEVICE NormScale norm_scale(const NormParams& p, bool is_q, float sum, float scaled_sum) {
  return norm_scale(p.eps, is_q ? p.q_inverse_count : p.k_inverse_count, sum, scaled_sum);
}

template <int kCount>
ROPE_DEVICE float sum_of_squares(const float (&x)[kCount], float scale) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float scaled = x[i] * scale;
    sum += scaled * scaled;
  }
  return sum;
}

// Sum over neighbouring threads of a warp, a power of two of them. The whole warp comes.
ROPE_DEVICE float sum_lanes(float value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) value += shuffle_xor(value, distance);
  return value;
}

inline constexpr int kMostWarps = 32;

// Sum over the block, whose threads are whole warps. All of it comes; `shared` has kMostWarps words
// and may be used again after the next sync_block().
ROPE_DEVICE float sum_block(float value, float* shared) {
  const uint32_t thread = thread_y() * block_dim_x() + thread_x();
  const uint32_t warps = block_dim_x() * block_dim_y() / 32;
  value = sum_lanes(value, 32);
  if (thread % 32 == 0) shared[thread / 32] = value;
  sync_block();
  float sum = 0;
  for (uint32_t warp = 0; warp < warps; ++warp) sum += shared[warp];
  return sum;
}

// Rounds to the element type and back, as a launch that stores and another that loads do.
template <typename T, int kCount>
ROPE_DEVICE void round_to_element(float (&x)[kCount]) {
  Packet<kCount * T::kSize> packet;
  put<T>(packet, 0, x);
  unpack<T>(packet, x);
}

template <typename T, int kCount>
ROPE_DEVICE void add_bias(float (&x)[kCount], const char* bias) {
  const Packet<kCount* T::kSize> packet = load_constant<kCount * T::kSize>(bias);
#pragma unroll
  for (int i = 0; i < kCount; ++i) x[i] += get<T>(packet, i);
}

template <typename T, int kCount>
ROPE_DEVICE void apply_norm(float (&x)[kCount], const NormScale& norm, const char* weights,
                            float weight_offset) {
  if (weights == nullptr) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = x[i] * norm.scale * norm.factor;
    return;
  }
  const Packet<kCount* T::kSize> packet = load_constant<kCount * T::kSize>(weights);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    x[i] = x[i] * norm.scale * norm.factor * (get<T>(packet, i) + weight_offset);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_NORM_CUH_
