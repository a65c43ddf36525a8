// A/B rounds of two variants in this process.
#ifndef ROPE_BENCH_SRC_CLI_GATE_VARIANTS_H_
#define ROPE_BENCH_SRC_CLI_GATE_VARIANTS_H_

#include <functional>
#include <string>
#include <vector>

#include "src/gate/decide.h"
#include "src/measure/ab.h"
#include "src/measure/runner.h"

namespace rope_bench {

// One case per cache mode: row i of what is measured is case i.
std::vector<RopeCase> one_cache_each(const std::vector<RopeCase>& cases);

struct AbRun {
  std::string base;  // the variant; empty: each case's own, against itself
  int64_t rounds = 10;
  int slow_every = 0;  // RunOptions::slow_every of each case's own variant
  bool check = true;
  // Of rows that were measured, beside the result; in order.
  std::function<void(size_t index, const AbMeasurement&)> on_measured;
};

// A row each, also for what did not run. Fewer if interrupted.
std::vector<GateCase> run_ab(Runner& runner, const std::vector<RopeCase>& cases, const AbRun& how);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_GATE_VARIANTS_H_
