// Seeded inputs: counter-based, the same bytes on every machine, independent of strides and
// threads.
#ifndef ROPE_BENCH_SRC_MATH_INPUTS_H_
#define ROPE_BENCH_SRC_MATH_INPUTS_H_

#include <cstdint>

#include "src/case/rope_case.h"

namespace rope_bench {

enum class TensorId : uint32_t { kQ = 0, kK = 1, kV = 2 };

// Fills element (t, h, j) of [num_tokens, heads, head_dim] at data + t * token_stride + h *
// head_stride + j (strides in elements). The value depends on (seed, tensor, t, h, j) and the
// case's data kind alone; gaps between rows are left as they are. Integer arithmetic and correctly
// rounded + - * / sqrt only, then rounded to dtype.
void fill_inputs(const RopeCase& c, TensorId tensor, int64_t heads, int64_t token_stride,
                 int64_t head_stride, void* data, int num_threads);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_INPUTS_H_
