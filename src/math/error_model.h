// What float32 arithmetic may lose, in one place for the reference and for the device's judge; the
// derivations are in docs/validation.md. Plain functions for the host and, by nvcc, for the GPU.
#ifndef ROPE_BENCH_SRC_MATH_ERROR_MODEL_H_
#define ROPE_BENCH_SRC_MATH_ERROR_MODEL_H_

#include <cmath>
#include <cstdint>

#include "kernels/kernel_api.h"

#ifdef __CUDACC__
#define ROPE_MODEL_FN __host__ __device__ inline
#else
#define ROPE_MODEL_FN inline
#endif

namespace rope_bench::error_model {

// One rounding to float32, relative.
inline constexpr double kUnit = 0x1p-24;
// Half the spacing of subnormal float32 numbers.
inline constexpr double kTiny = 0x1p-150;

// Two products and their sum, in ULPs of the larger product.
inline constexpr double kRotationUlps = 2;

// |1 / sqrt(mean(x^2) + eps)| * x * weight over n values: relative, without what the values
// themselves were off by. In units of 2^-24:
//   the square 1, a chain of additions that is no longer than n / 32 + 5 (32 partial sums, then by
//   halves) or log2 n + 5 (eight values at a time, then by halves), the division by n (2), eps and
//   its addition (2), squares that underflow beside eps (1): halved by the root;
//   the reciprocal root 4 (2 ULP); three products, or two products and weight + offset: 3.
ROPE_MODEL_FN double norm_relative(int64_t n) {
  int64_t chain = 0;
  for (int64_t parts = n; parts > 1; parts = (parts + 1) / 2) ++chain;
  if (chain < (n + 31) / 32) chain = (n + 31) / 32;
  const double sum = static_cast<double>(chain) + 5;
  return ((1 + sum + 2 + 2 + 1) / 2 + 4 + 3) * kUnit;
}

// How far, relatively, a norm is off because the mean square is off by `shift` of `mean_eps` (mean
// + eps).
ROPE_MODEL_FN double norm_of_shifted_mean(double shift, double mean_eps) {
  const double t = shift / mean_eps;
  return t < 1 ? t / 2 / (1 - t) : HUGE_VAL;
}

// A scale below float32's normal numbers has fewer digits.
ROPE_MODEL_FN double scale_relative(double scale) { return kTiny / scale; }

// What cos and sin of a variant without a table may be off by, for an attention factor of 1:
// at any angle, and per radian of it.
struct AngleError {
  double absolute, per_radian;
};
ROPE_MODEL_FN AngleError angle_error(bool uses_table, int32_t precision) {
  if (uses_table) return {0, 0};
  if (precision != ROPE_PRECISION_FAST_MATH) return {0x1p-23, 0};
  // float32: frequency, position, product and the reduction modulo a turn at half an ULP each; the
  // reduced angle 2^-23, the hardware's sine and cosine 2^-21.19, times a factor 2^-24.
  return {0x1.8p-21, 0x1p-22};
}

}  // namespace rope_bench::error_model

#endif  // ROPE_BENCH_SRC_MATH_ERROR_MODEL_H_
