// Statistics over independent rounds, and the rule that ends a measurement: pure objects, tested on
// made-up samples.
#ifndef ROPE_BENCH_SRC_MEASURE_STATISTICS_H_
#define ROPE_BENCH_SRC_MEASURE_STATISTICS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rope_bench {

struct Interval {
  double low = 0, high = 0;
};

// Of a non-empty sample. `p` in [0, 1], linear between neighbours.
double quantile(std::vector<double> sample, double p);
double median(std::vector<double> sample);

// Distribution-free 95 % interval of the median from order statistics. Fewer than 6 values bound no
// such interval: then their range.
Interval median_interval(std::vector<double> sample);

// Median of |value - median|. Of a non-empty sample.
double median_absolute_deviation(const std::vector<double>& sample);

// Values in the order in which they were taken -> medians of the first and of the last tenth, at
// least one value each: how far they differ is how far the device drifted.
struct Drift {
  double first = 0, last = 0;
};
Drift drift_of(const std::vector<double>& sample);

// What processes of one binary on one device differ by in limit_ratio, beyond what their rounds
// say: half of a 95 % interval, over the median.
constexpr double kBetweenProcesses = 0.002;

// The 95 % interval of the median over rounds (median_interval), and what processes differ by:
// added as independent errors are.
Interval ratio_interval(const std::vector<double>& ratios);

// When to stop: the wanted precision is reached, or time is up.
struct StoppingRule {
  double precision = 0.005;  // wanted half-width of the interval over the median
  double min_time_s = 0;     // measured at least as long
  double max_time_s = 1;
  int64_t min_rounds = 10;

  // Of ratios, one per round. nullptr: go on. Else why it stops: "precision" or "max_time".
  const char* why_stop(const std::vector<double>& ratios, double elapsed_s) const;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_STATISTICS_H_
