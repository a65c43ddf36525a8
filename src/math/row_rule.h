// How the rows of a table follow from frequencies where a row is not simply a position: position
// axes, and the reversed direction. Kernels know nothing of either.
#ifndef ROPE_BENCH_SRC_MATH_ROW_RULE_H_
#define ROPE_BENCH_SRC_MATH_ROW_RULE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "src/case/rope_case.h"

namespace rope_bench {

struct RowRule {
  bool reversed = false;                        // sines are negated
  std::vector<uint8_t> axis_of_pair;            // empty: row t is position t of every pair
  std::vector<std::vector<int64_t>> positions;  // else [axis][row]
  bool operator==(const RowRule&) const = default;
};

// Of the table that a run of this case builds: with rope.axes one row per token. Null where row t
// is position t, forward. Throws ConfigError for a position from 2^31 on.
std::shared_ptr<const RowRule> row_rule_of(const RopeCase& c);

// Of a table whose one row, row 0, is that of a token at these positions, one per axis.
std::shared_ptr<const RowRule> row_rule_at(const RopeCase& c, const std::vector<int64_t>& at);

// What rope.query_scale multiplies a query by at a position, 1 without it: keys are not scaled, so
// that this cannot be part of a table that both read.
double query_factor(const RopeCase& c, int64_t position);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_ROW_RULE_H_
