// The definition of the ops in double, and the comparison with a kernel's output, in blocks of
// tokens.
#ifndef ROPE_BENCH_SRC_MATH_REFERENCE_H_
#define ROPE_BENCH_SRC_MATH_REFERENCE_H_

#include <cstdint>
#include <span>

#include "kernels/kernel_api.h"
#include "src/case/result.h"
#include "src/case/rope_case.h"
#include "src/math/table.h"

namespace rope_bench {

// The steps of every op on rows of doubles, here and nowhere else. Their order: bias, norm,
// rotation, or with norm_after bias, rotation, norm.

// x + bias, n values.
void add_bias_reference(int64_t n, const double* bias, double* x);

// mean(x^2) + eps of n values: x is divided by its root.
double mean_square_reference(int64_t n, double eps, const double* x);

// x / sqrt(mean_eps) * factors, where a factor is weight + weight_offset, or 1 without weights.
void normalise_reference(int64_t n, double mean_eps, const double* factors, double* x);

// Rotates one head row of head_dim doubles; backward is the same with negated sines. x != y.
void rotate_reference(Pairing pairing, int64_t head_dim, int64_t rotary_dim, int64_t rotary_offset,
                      const double* cosines, const double* sines, const double* x, double* y);

// Judges the output of a launch by the op's definition. Every pointer of `launch` lies in host
// memory: inputs as they were, outputs as they came out, bias and weights. What the op is, the
// tokens' positions and their output rows come from the case, so that a launch built wrongly is
// seen; strides, addresses, and whether there are v and weights come from `launch`.
//
// `kernel` errors against the reference with the table's values (with exact angles if the variant
// uses no table); `total` against exact angles; `table` the table's own error. Dims that the op
// does not change must be bit-identical; rows of padding tokens are not looked at. The bounds are
// those of docs/validation.md. `tokens`: those to compare, rising; empty: all. Throws DeviceError
// for a position outside the table.
Accuracy check_launch(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                      const RopeKernelArgs& launch, int num_threads,
                      std::span<const int64_t> tokens = {});

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_REFERENCE_H_
