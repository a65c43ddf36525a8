// Two variants on the same sets, round by round.
#ifndef ROPE_BENCH_SRC_MEASURE_AB_H_
#define ROPE_BENCH_SRC_MEASURE_AB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "src/measure/stopwatch.h"

namespace rope_bench {

struct AbMeasurement {
  // A round each; empty if no round gave positive times.
  std::vector<double> log_ratios;                // ln(time of B / time of A)
  std::vector<double> a_us, b_us;                // the times themselves
  int64_t a_wrong_units = 0, b_wrong_units = 0;  // in timed windows that were judged
};

struct AbOptions {
  CacheMode cache = CacheMode::kCold;
  int64_t rounds = 10;
  bool judge = true;  // check timed launches
  std::function<bool()> interrupted;
};

// Every round lays the sets out anew (other addresses), runs each variant once untimed, then times
// A B B A, every second round B A A B: drift within a round and what comes first cancel. Rounds
// without a positive time are measured again, at most as many times as rounds are wanted. nullopt
// if interrupted. A slowdown that the plan plants is B's.
std::optional<AbMeasurement> measure_ab(Backend& backend, CaseBuffers& buffers,
                                        const RopeVariant& a, const RopeVariant& b,
                                        const Plan& plan, const AbOptions& options);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_AB_H_
