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

// When to stop: the wanted precision is reached, or time is up.
struct StoppingRule {
  double precision = 0.005;  // wanted half-width of the interval over the median
  double min_time_s = 0;     // measured at least as long
  double max_time_s = 1;
  int64_t min_rounds = 7;

  // nullptr: go on. Else why it stops: "precision" or "max_time".
  const char* why_stop(const std::vector<double>& ratios, double elapsed_s) const;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_STATISTICS_H_
