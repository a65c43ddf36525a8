// How a case is timed: numbers of sets and launches. Pure arithmetic, tested without a device.
#ifndef ROPE_BENCH_SRC_MEASURE_PLAN_H_
#define ROPE_BENCH_SRC_MEASURE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "src/case/result.h"
#include "src/measure/set_layout.h"

namespace rope_bench {

struct PlanInput {
  ByteCount bytes;          // of one launch
  SetLayout own, shared;    // a set with its own table and positions, and one without
  size_t set_budget = 0;    // bytes that sets may take
  int64_t cache_bytes = 0;  // last level
  double peak_gb_s = 0;     // measured
  double floor_s = 0;       // an empty launch
  CacheMode cache = CacheMode::kCold;
  bool is_host = false;  // times are no differences: one window is enough of them
};

struct Plan {
  int num_sets = 2;
  bool own_tables = true;
  int short_launches = 1;  // in the two windows whose difference is taken
  int long_launches = 2;
  int windows = 1;  // pairs of windows that make one sample, where one pair is too short
  // How often the long window uses one set.
  int repeats() const { return (long_launches + num_sets - 1) / num_sets; }
};

// Cold: every launch of a window has a set of its own, and the cache is flushed before the window,
// so that no byte of a launch was touched during the last four caches' worth of traffic. Warm: as
// many sets as fit a quarter of the cache, at least two, each used a few times. The long window
// takes at least 200 us longer than the short one; where memory or the cache holds too few sets for
// that, a sample is made of several such pairs.
Plan make_plan(const PlanInput& input);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_PLAN_H_
