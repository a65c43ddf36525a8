// The Eigen double-precision reference and the comparison with a kernel's output, in blocks of
// tokens.
#ifndef ROPE_BENCH_SRC_MATH_REFERENCE_H_
#define ROPE_BENCH_SRC_MATH_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "src/case/result.h"
#include "src/case/rope_case.h"
#include "src/math/table.h"

namespace rope_bench {

// [num_tokens, heads, head_dim] in host memory, strides in elements.
struct HostTensor {
  const void* data = nullptr;
  int64_t token_stride = 0;
  int64_t head_stride = 0;
};

struct RopeTensors {
  HostTensor q_in, k_in, q_out, k_out;
};

// Rotates one head row of head_dim doubles: the definition of the op, and the only place that has
// it.
void rotate_reference(Pairing pairing, int64_t head_dim, int64_t rotary_dim, int64_t rotary_offset,
                      const double* cosines, const double* sines, const double* x, double* y);

// Judges an output. `kernel` errors against the reference with the table's values (with exact
// angles if !uses_table); `total` against exact angles; `table` the table's own error. Pass-through
// dims must be bit-identical. The bounds are those of docs/validation.md.
Accuracy check_rope(const RopeCase& c, bool uses_table, const CosSinTable& table,
                    const std::vector<int64_t>& positions, const RopeTensors& tensors,
                    int num_threads);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_REFERENCE_H_
