#include "src/math/tolerance.h"

#include <algorithm>

#include "src/math/convert.h"
#include "src/math/error_model.h"
#include "src/math/numeric.h"

namespace rope_bench {

double rotation_bound(Dtype dtype, double result, double product) {
  const double arithmetic = error_model::kRotationUlps * ulp(Dtype::kF32, product);
  // In float32 the rounding of the sum is the rounding of the result: it is counted already.
  return dtype == Dtype::kF32 ? arithmetic : 0.5 * ulp(dtype, result) + arithmetic;
}

double rotation_tolerance_ulp(Dtype dtype) {
  if (dtype == Dtype::kF32) return 2;
  // |result| <= 2 p, so 0.5 ulp(result) <= 1 ulp(p); a float32 ULP is 2^(m - 23) dtype ULPs.
  return 1 + 2 * pow2(info(dtype).mantissa_bits - 23);
}

double tolerance_ulp(const RopeCase& c, int32_t precision) {
  // Relative errors of x and y before the rotation, h each: |x c| h + |y s| h <= 2 p h, and p is
  // below 2^(m + 1) of its ULPs. A mean square is off by as much again.
  double relative = 0;
  if (has_bias(c)) relative += error_model::kUnit * (has_norm(c) ? 2 : 1);
  if (has_norm(c)) {
    const int64_t heads = c.norm.span_row ? std::max(c.num_heads, c.num_kv_heads) : 1;
    relative += error_model::norm_relative(heads * c.head_dim);
    // A rotation before it moves the mean square by less than 6 roundings (docs/validation.md).
    if (c.norm.after_rotation) relative += 6 * error_model::kUnit;
  }
  const bool unfused = precision == ROPE_PRECISION_UNFUSED;
  if (c.dtype != Dtype::kF32) {
    const double half = pow2(-info(c.dtype).mantissa_bits - 1);
    double roundings = 0;
    if (has_bias(c) && unfused) roundings += has_norm(c) ? 2 : 1;
    if (has_norm(c) && (unfused || c.norm.round_between)) roundings += 2;
    relative += roundings * half;
  }
  // What errors do to each other: below a part in 32.
  const double together = relative > 2 * error_model::kUnit ? 1 + 0x1p-5 : 1;
  return rotation_tolerance_ulp(c.dtype) +
         2 * relative * together * pow2(info(c.dtype).mantissa_bits + 1);
}

}  // namespace rope_bench
