// Numbers of the kernel tests: element types by definition, and exact angles. Shares nothing with
// the kernels or with src/math.
#ifndef ROPE_BENCH_TESTS_KERNELS_PROBLEM_NUMBERS_H_
#define ROPE_BENCH_TESTS_KERNELS_PROBLEM_NUMBERS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"

namespace rope_bench::testing {

double widen(Dtype dtype, const std::byte* p);
// Writes a number of the dtype by truncating a float32: no rounding to get wrong. Infinity and NaN
// stay what they are.
void write_value(Dtype dtype, std::byte* p, float value);

// Distance to the next number of the dtype, that of subnormal numbers at least.
double spacing(Dtype dtype, double x);
// To nearest even, by definition.
double rounded(Dtype dtype, double x);

// Frequency of a pair in radians per position, theta 10000.
long double frequency(int pair, int rotary_dim);
// The same in turns of 2^-64, modulo one turn.
uint64_t turns_of(long double frequency);

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_PROBLEM_NUMBERS_H_
