// Where each token of a case is read from and written to, from the case alone: what the operands of
// a launch must say, and what it is judged by.
#ifndef ROPE_BENCH_SRC_CASE_TOKEN_ROWS_H_
#define ROPE_BENCH_SRC_CASE_TOKEN_ROWS_H_

#include <cstdint>
#include <vector>

#include "src/case/rope_case.h"

namespace rope_bench {

struct TokenRows {
  // [num_tokens] each; -1 for padding: tokens behind the last sequence, and those whose position is
  // listed as negative.
  std::vector<int64_t> table_rows;
  std::vector<int64_t> out_rows;  // token t is row t, or row b * padded_length + s
  int64_t sequence_tokens = 0;    // tokens [0, sequence_tokens) are those of the sequences
};
TokenRows token_rows_of(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_TOKEN_ROWS_H_
