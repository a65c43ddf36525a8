// q, k and v of a launch as the check sees them.
#ifndef ROPE_BENCH_SRC_MATH_OPERANDS_H_
#define ROPE_BENCH_SRC_MATH_OPERANDS_H_

#include <cstdint>
#include <vector>

#include "src/math/span.h"

namespace rope_bench::judging {

OpRules rules_of(const RopeCase& c, int32_t precision);

// Shapes, bias and norm from the case; strides, addresses, weights and v from the launch.
std::vector<Operand> operands_of(const RopeCase& c, const RopeKernelArgs& launch);

// Elements from the start of an operand to the first head of a token, and of an output row.
inline int64_t start(int64_t row, int64_t batch_rows, int64_t batch_stride, int64_t row_stride) {
  if (batch_rows == 0) return row * row_stride;
  return row / batch_rows * batch_stride + row % batch_rows * row_stride;
}
inline int64_t in_start(const RopeKernelArgs& launch, const RopeTensor& t, int64_t token) {
  return start(token, launch.in_batch_tokens, t.in_batch_stride, t.in_token_stride);
}
inline int64_t out_start(const RopeKernelArgs& launch, const RopeTensor& t, int64_t row) {
  return start(row, launch.out_batch_tokens, t.out_batch_stride, t.out_token_stride);
}

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_OPERANDS_H_
