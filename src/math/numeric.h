// Conversions between the storage types and double, and the units in which errors are counted.
#ifndef ROPE_BENCH_SRC_MATH_NUMERIC_H_
#define ROPE_BENCH_SRC_MATH_NUMERIC_H_

#include <cstdint>

#include "kernels/dtype.h"

namespace rope_bench {

double load_as_double(Dtype dtype, const void* data, int64_t index);
// Round to nearest even, once, from double; overflow becomes infinity; NaN stays NaN.
void store_rounded(Dtype dtype, void* data, int64_t index, double value);
uint32_t load_bits(Dtype dtype, const void* data, int64_t index);

// Spacing of the dtype's numbers at |x|: 2^(floor(log2 |x|) - mantissa_bits), the subnormal spacing
// at least.
double ulp(Dtype dtype, double x);
double max_finite(Dtype dtype);

// The dtype's number nearest to `value`, ties to even; infinity beyond its range.
double round_to(Dtype dtype, double value);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_NUMERIC_H_
