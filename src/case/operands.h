// Where q, k and v of a case lie: which buffers a launch reads and writes, and the view that each
// operand has of one. Packed QKV is one buffer with three views.
#ifndef ROPE_BENCH_SRC_CASE_OPERANDS_H_
#define ROPE_BENCH_SRC_CASE_OPERANDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "src/case/checked_math.h"
#include "src/case/rope_case.h"

namespace rope_bench {

// Tokens as an operand has them: `batches` entries of `tokens` each. One entry where no stride
// tells entries apart.
struct Grid {
  int64_t batches = 1, tokens = 0;
  int64_t num_tokens() const { return saturating_mul(batches, tokens); }
};
Grid input_grid(const RopeCase& c);
Grid output_grid(const RopeCase& c);  // of a padded output: sequences by their padded length

// Elements of one head: with a rotary offset the slice may end behind head_dim (MLA: head_dim
// counts only the rotated part).
int64_t head_width(const RopeCase& c, const TensorLayout& layout);

TensorExtent extent_on(const RopeCase& c, const TensorLayout& layout, int64_t heads,
                       const Grid& grid);

struct OperandView {
  int buffer = -1;     // of its side; -1: the op has no such operand
  int64_t offset = 0;  // of its first element in the buffer
  int64_t token_stride = 0, head_stride = 0, batch_stride = 0;
};

struct OperandBuffer {
  const char* name = "";  // "q", "k", "v", "qkv"
  int64_t elements = 0;
  int64_t used = 0;  // of these: what rows of the grid cover
  // Rows of the buffer: of one head, or of all heads of packed QKV.
  int64_t rows_per_token = 0, row_width = 0;
  int64_t token_stride = 0, row_stride = 0, batch_stride = 0;
};

// What is read, or what is written.
struct Side {
  Grid grid;
  std::vector<OperandBuffer> buffers;
  std::array<OperandView, 3> views;  // of q, k and v
  int64_t elements() const;
};

struct Operands {
  std::array<int64_t, 3> heads{};   // of q, k and v, 0: none
  std::array<int64_t, 3> widths{};  // of a head of each
  bool in_place = true;             // then `out` is `in` over again
  Side in, out;
};
Operands operands_of(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_OPERANDS_H_
