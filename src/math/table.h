// The cos-sin table [rows, rotary_dim]: per row rotary_dim/2 cosines, then as many sines, times
// attention_factor.
#ifndef ROPE_BENCH_SRC_MATH_TABLE_H_
#define ROPE_BENCH_SRC_MATH_TABLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "src/case/rope_case.h"
#include "src/math/scaling.h"

namespace rope_bench {

struct CosSinTable {
  int64_t rows = 0;
  int32_t rotary_dim = 0;
  TableAngle angle = TableAngle::kExact;
  Frequencies frequencies;
  std::vector<float> values;  // [rows, rotary_dim]; exactly the numbers that kernels read
};

// cos and sin of one position in double, [rotary_dim / 2] each, times attention_factor.
// kExact: within 2^-24 * attention_factor of the true value for every position in [0, 2^31).
// kFloat32: the angle is fl(fl(position) * inv_freq) in float32, then cos/sin in double.
void cos_sin_row(const Frequencies& f, TableAngle angle, int64_t position, double* cosines,
                 double* sines);

// Rows [0, rows) on num_threads threads. Throws ConfigError above 2^31 rows.
CosSinTable build_table(const Frequencies& f, TableAngle angle, int64_t rows, int num_threads);

// Largest |table - exact| over the rows in `positions`, and what the table's stated model allows
// there: exact 2^-24 af; float32 see golden tests.
struct TableError {
  double max_abs = 0;
  double tolerance = 0;
};
TableError table_error(const CosSinTable& table, const std::vector<int64_t>& positions,
                       int num_threads);

// Builds each distinct table once and shares it between the cases of a run. Not thread-safe.
class TableCache {
 public:
  std::shared_ptr<const CosSinTable> get(const RopeCase& c, int num_threads);

 private:
  struct Entry;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TABLE_H_
