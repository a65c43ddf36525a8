// Seeded inputs: counter-based, the same bytes on every machine, independent of strides and
// threads.
#ifndef ROPE_BENCH_SRC_MATH_INPUTS_H_
#define ROPE_BENCH_SRC_MATH_INPUTS_H_

#include <cstdint>

#include "src/case/rope_case.h"

namespace rope_bench {

enum class TensorId : uint32_t { kQ = 0, kK = 1, kV = 2, kBias = 3, kQWeight = 4, kKWeight = 5 };

// Rows of an operand, strides in elements. Token b * batch_tokens + s begins at b * batch_stride +
// s * token_stride; batch_tokens 0: all tokens are one entry.
struct InputView {
  int64_t heads = 0;
  int64_t width = 0;  // elements of a head
  int64_t token_stride = 0, head_stride = 0;
  int64_t batch_tokens = 0, batch_stride = 0;
};

// Fills element j < width of every (token, head). The value depends on (seed, tensor, token, head,
// j) and the case's data kind alone; gaps between rows are left as they are. Integer arithmetic and
// correctly rounded + - * / sqrt only, then rounded to dtype.
void fill_inputs(const RopeCase& c, TensorId tensor, const InputView& view, void* data,
                 int num_threads);

// Fills [count] elements that are not data: a bias, nearly N(0, 1), or weights of a norm, nearly
// N(1, 1/64), or N(0, 1/64) where 1 is added to them. From (seed, tensor, index) alone.
void fill_parameters(const RopeCase& c, TensorId tensor, int64_t count, void* data);

// Fills element (t, h, j) of [num_tokens, heads, head_dim] at data + t * token_stride + h *
// head_stride + j, as above.
void fill_inputs(const RopeCase& c, TensorId tensor, int64_t heads, int64_t token_stride,
                 int64_t head_stride, void* data, int num_threads);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_INPUTS_H_
