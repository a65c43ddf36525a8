// Paired tests on round log-ratios, and what they can find: pure arithmetic.
#ifndef ROPE_BENCH_SRC_GATE_PAIRED_H_
#define ROPE_BENCH_SRC_GATE_PAIRED_H_

#include <cstddef>
#include <vector>

#include "src/compare/change.h"

namespace rope_bench {

// One-sided level of every claim of the gate.
inline constexpr double kAlpha = 0.05;

// Of ln(new time / base time), one per round, at least two. A round's ratios hold what both share
// (clocks, neighbours, memory), so that only what differs within a round is noise.
struct PairedTest {
  size_t rounds = 0;
  double sd = 0;  // of the log-ratios
  Change change;  // the mean as a slowdown, with its two-sided 95 % interval
  // p-values of Student's t against: slower by no more than the margin; faster by no more; slower
  // by at least the margin.
  double p_slower = 1, p_faster = 1, p_within = 1;
};
PairedTest paired_test(const std::vector<double>& log_ratios, double margin);

// Holm's step-down procedure: which hypotheses fall at a family-wise level of alpha. The smallest p
// must be at most alpha / n, the next alpha / (n - 1), ... up to the first that is not.
std::vector<bool> holm(const std::vector<double>& p_values, double alpha);

// How often so many rounds without any change would be called slower: the chance that Student's t
// of noise alone passes the margin.
double false_alarm_rate(double sd, size_t rounds, double margin);
// The smallest slowdown (a share) that so many rounds of such noise call slower with this power:
// the margin, plus the t quantiles of level and power times the error of the mean.
double smallest_slowdown(double sd, size_t rounds, double margin, double power);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_GATE_PAIRED_H_
