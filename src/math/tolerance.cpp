#include "src/math/tolerance.h"

#include "src/math/convert.h"
#include "src/math/numeric.h"

namespace rope_bench {

double rotation_bound(Dtype dtype, double result, double product) {
  const double arithmetic = 2 * ulp(Dtype::kF32, product);
  // In float32 the rounding of the sum is the rounding of the result: it is counted already.
  return dtype == Dtype::kF32 ? arithmetic : 0.5 * ulp(dtype, result) + arithmetic;
}

double rotation_tolerance_ulp(Dtype dtype) {
  if (dtype == Dtype::kF32) return 2;
  // |result| <= 2 p, so 0.5 ulp(result) <= 1 ulp(p); a float32 ULP is 2^(m - 23) dtype ULPs.
  return 1 + 2 * pow2(info(dtype).mantissa_bits - 23);
}

}  // namespace rope_bench
