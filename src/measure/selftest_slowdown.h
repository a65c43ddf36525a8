// Whether a planted slowdown is seen: what gates rely on.
#ifndef ROPE_BENCH_SRC_MEASURE_SELFTEST_SLOWDOWN_H_
#define ROPE_BENCH_SRC_MEASURE_SELFTEST_SLOWDOWN_H_

#include "src/measure/runner.h"
#include "src/measure/selftest.h"

namespace rope_bench {

// A right kernel against itself with a quarter of its launches timed on top, round by round as
// `gate` does it. Caught: between 15 % and 35 % slower; where it is not, measured once more with
// more rounds.
SelftestRow find_planted_slowdown(Runner& runner);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_SELFTEST_SLOWDOWN_H_
