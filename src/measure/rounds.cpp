#include "src/measure/rounds.h"

#include <algorithm>
#include <string>

namespace rope_bench {

void Rounds::add(double kernel, double limit, bool has_limit, const DeviceState& state) {
  ++attempted_;
  if (kernel <= 0 || (has_limit && limit <= 0)) {
    ++not_positive_;
    return;
  }
  gate_.add(state);
  times_.push_back(kernel);
  limits_.push_back(limit);
  ratios_.push_back(has_limit ? limit / kernel : 1 / kernel);
}

std::vector<double> Rounds::sample(const std::vector<double>& values, const GateVerdict& verdict) {
  std::vector<double> kept;
  for (const size_t i : verdict.kept) kept.push_back(values[i]);
  return kept;
}

void Rounds::summarise(const GateVerdict& verdict, Timing* t) const {
  const std::vector<double> values = times(verdict);
  const Interval interval = median_interval(values);
  const Drift drift = drift_of(values);
  t->num_rounds = static_cast<int64_t>(values.size());
  for (const double seconds : values) t->round_times_us.push_back(seconds * 1e6);
  t->median_us = median(values) * 1e6;
  t->ci_low_us = interval.low * 1e6;
  t->ci_high_us = interval.high * 1e6;
  t->p5_us = quantile(values, 0.05) * 1e6;
  t->p95_us = quantile(values, 0.95) * 1e6;
  t->min_us = *std::min_element(values.begin(), values.end()) * 1e6;
  t->mad_us = median_absolute_deviation(values) * 1e6;
  t->first_tenth_us = drift.first * 1e6;
  t->last_tenth_us = drift.last * 1e6;
  t->num_dropped = attempted_ - t->num_rounds;
  t->dropped_reason = verdict.reason;
  if (not_positive_ > 0) {
    t->dropped_reason += (verdict.reason.empty() ? "" : ", ") + std::to_string(not_positive_) +
                         " without a positive time";
  }
  t->left_clocks = verdict.gave_up;
  t->sm_clock_mhz = gate_.sm_clock_mhz();
  t->memory_clock_mhz = gate_.memory_clock_mhz();
}

}  // namespace rope_bench
