// How the sets of a case are laid out: computed before anything is allocated.
#ifndef ROPE_BENCH_SRC_MEASURE_SET_LAYOUT_H_
#define ROPE_BENCH_SRC_MEASURE_SET_LAYOUT_H_

#include <array>
#include <cstddef>
#include <vector>

#include "src/case/rope_case.h"
#include "src/measure/parameters.h"

namespace rope_bench {

struct SetLayout {
  struct Region {
    size_t offset = 0, bytes = 0;
  };
  static constexpr size_t kGuardBytes = 512;

  std::vector<Region> in, out;  // a region per buffer of operands_of(); no `out` in place
  std::array<Region, kNumParameters> parameters;  // empty where all sets share them
  std::vector<Region> guards;
  size_t stride = 0;  // bytes from set to set
};

// `own_parameters`: each set has its own table rows, positions, weights ...
SetLayout layout_of(const RopeCase& c, bool uses_table, int64_t table_rows_used,
                    bool own_parameters);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_SET_LAYOUT_H_
