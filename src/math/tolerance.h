// What an op and a dtype allow at most, in ULPs: derived, as every bound of an element is
// (docs/validation.md).
#ifndef ROPE_BENCH_SRC_MATH_TOLERANCE_H_
#define ROPE_BENCH_SRC_MATH_TOLERANCE_H_

#include <cstdint>

#include "kernels/dtype.h"
#include "src/case/rope_case.h"

namespace rope_bench {

// (x', y') = (x c - y s, y c + x s) in float32, p = max of the two products' magnitudes:
//   two products         0.5 ulp_f32(p) each, or one of them exact inside an FMA
//   their sum            0.5 ulp_f32(result) <= 1 ulp_f32(p), since |result| <= 2 p
// together 2 ulp_f32(p); then, for f16 and bf16, one rounding: 0.5 ulp(result).
double rotation_bound(Dtype dtype, double result, double product);

// The same in ULPs of p, its largest value: bf16 1 + 2^-15, f16 1 + 2^-12, f32 2.
double rotation_tolerance_ulp(Dtype dtype);

// That of a case: with its bias, its norm, and what a variant of `precision` rounds in between.
double tolerance_ulp(const RopeCase& c, int32_t precision);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TOLERANCE_H_
