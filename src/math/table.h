// The cos-sin table [rows, rotary_dim]: per row rotary_dim/2 cosines, then as many sines, times
// attention_factor.
#ifndef ROPE_BENCH_SRC_MATH_TABLE_H_
#define ROPE_BENCH_SRC_MATH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/case/rope_case.h"
#include "src/math/row_rule.h"
#include "src/math/scaling.h"

namespace rope_bench {

struct CosSinTable {
  int64_t rows = 0;
  int32_t rotary_dim = 0;
  TableAngle angle = TableAngle::kExact;
  Dtype dtype = Dtype::kF32;
  Frequencies frequencies;
  std::shared_ptr<const RowRule> rule;  // null: row t is position t
  std::vector<float> values;  // [rows, rotary_dim]; exactly the numbers that kernels read, each a
                              // number of `dtype`
};

// cos and sin of one position in double, [rotary_dim / 2] each, times attention_factor.
// kExact: within 2^-24 * attention_factor of the true value for every position in [0, 2^31).
// kFloat32: the angle is fl(fl(position) * inv_freq) in float32, then cos/sin in double.
void cos_sin_row(const Frequencies& f, TableAngle angle, int64_t position, double* cosines,
                 double* sines);

// Rows [0, rows) on num_threads threads, each value rounded once to `dtype`. Throws ConfigError
// above 2^31 rows, OutOfMemory where memory does not hold them.
CosSinTable build_table(const Frequencies& f, TableAngle angle, int64_t rows, int num_threads,
                        Dtype dtype = Dtype::kF32, std::shared_ptr<const RowRule> rule = nullptr);

// Rows [0, rows) as memory holds them: rotary_dim elements of table.dtype each, without gaps.
std::vector<std::byte> stored_rows(const CosSinTable& table, int64_t rows, int num_threads);

// Largest |table - exact| over the rows in `rows`, and what the table's stated model allows at
// that element (docs/validation.md). If some element is beyond its own allowance, it is the worst
// such element instead, so that max_abs <= tolerance says whether the whole table is right.
struct TableError {
  double max_abs = 0;
  double tolerance = 0;
};
TableError table_error(const CosSinTable& table, const std::vector<int64_t>& rows, int num_threads);

// The tables that kernels are given: kernel_table_rows_of(c) rows, position axes and direction
// folded in. Builds each distinct table once and shares it between the cases of a run. Keeps the
// tables used last, 256 MiB of them beside the newest. Not thread-safe.
class TableCache {
 public:
  std::shared_ptr<const CosSinTable> get(const RopeCase& c, int num_threads);

 private:
  std::vector<std::shared_ptr<const CosSinTable>> tables_;  // most recently used first
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TABLE_H_
