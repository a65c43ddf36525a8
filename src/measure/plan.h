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
  int slow_every = 0;    // one scratch launch is timed with every so many; 0: none
  bool is_host = false;  // times are no differences: one window is enough of them
};

struct Plan {
  int num_sets = 2;
  bool own_tables = true;
  int short_launches = 1;  // in the two windows whose difference is taken
  int long_launches = 2;
  int windows = 1;  // pairs of windows that make one sample, where one pair is too short
  // A planted slowdown: after every so many launches one more, on sets of its own behind the
  // others, that no division counts. The launches between the windows are a multiple of it, so that
  // the time per launch grows by exactly 1 / slow_every of what a launch takes.
  int slow_every = 0;
  int scratch_sets = 0;
  int scratch_launches(int launches) const { return slow_every > 0 ? launches / slow_every : 0; }
  // The same without it, for limits.
  Plan as_it_is() const {
    Plan plain = *this;
    plain.slow_every = plain.scratch_sets = 0;
    return plain;
  }
  // The same with 200 us between the windows, for what is looked at only to be chosen.
  int quick_launches = 2;
  Plan quick() const;
  // How often the long window uses one set.
  int repeats() const { return (long_launches + num_sets - 1) / num_sets; }
};

// Cold: every launch of a window has a set of its own, and the cache is flushed before the window,
// so that no byte of a launch was touched during the last four caches' worth of traffic. Warm: as
// many sets as fit a quarter of the cache, at least two, each used a few times. The long window
// takes at least 200 us longer than the short one, up to 800 us where launches are long; where
// memory or the cache holds too few sets for 200 us, a sample is made of several such pairs. Where
// it also holds too few for a planted slowdown slow_every stays 0.
Plan make_plan(const PlanInput& input);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_PLAN_H_
