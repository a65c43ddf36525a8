// The rounds of one row: those that count, the others, and what they amount to.
#ifndef ROPE_BENCH_SRC_MEASURE_ROUNDS_H_
#define ROPE_BENCH_SRC_MEASURE_ROUNDS_H_

#include <cstdint>
#include <vector>

#include "src/case/result.h"
#include "src/measure/round_gate.h"
#include "src/measure/statistics.h"

namespace rope_bench {

class Rounds {
 public:
  // Seconds of kernel and limit, and how the device was. A difference of two noisy times can come
  // out at or below zero for the smallest launches: no round.
  void add(double kernel, double limit, bool has_limit, const DeviceState& state);
  int64_t attempted() const { return attempted_; }
  bool empty() const { return times_.empty(); }
  GateVerdict verdict(bool time_is_up) const { return gate_.verdict(time_is_up); }

  // Of the rounds that count, in the order in which they were measured.
  std::vector<double> times(const GateVerdict& v) const { return sample(times_, v); }
  std::vector<double> limits(const GateVerdict& v) const { return sample(limits_, v); }
  // Limit over kernel; without a limit one over the kernel's seconds.
  std::vector<double> ratios(const GateVerdict& v) const { return sample(ratios_, v); }

  // Fills in everything about the kernel's own times. At least one round must count.
  void summarise(const GateVerdict& verdict, Timing* t) const;

 private:
  static std::vector<double> sample(const std::vector<double>& values, const GateVerdict& verdict);

  RoundGate gate_;
  int64_t attempted_ = 0, not_positive_ = 0;
  std::vector<double> times_, limits_, ratios_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_ROUNDS_H_
