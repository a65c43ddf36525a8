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

// Buffers move between rounds, because time depends on where in memory they lie. Round r, from 0,
// is at placement 0, 1, 2 ...: four placements of three rounds each (of three one may be an
// outlier), then four of six, four of twelve.
int64_t placement_of_round(int64_t round);

// A sample whose values were taken at several placements.
struct PlacedSample {
  std::vector<double> values;
  std::vector<int64_t> placements;  // of each value
};

// The 95 % interval of the median over rounds (median_interval), widened on either side to that
// over placements: Student's t on the medians of three or more placements, half the difference of
// two. `between` (a share of the median) is what processes differ by beyond that, added as an
// independent error is.
Interval placed_interval(const PlacedSample& sample, double between = 0);

// Of limit_ratio: half of a 95 % interval over processes of one binary on one device. On an H200 it
// differed by 0.2 % between processes where raw medians differed by 0.7 %.
constexpr double kBetweenProcesses = 0.002;

// When to stop: the wanted precision is reached, or time is up.
struct StoppingRule {
  double precision = 0.005;  // wanted half-width of the interval over the median
  double min_time_s = 0;     // measured at least as long
  double max_time_s = 1;
  int64_t min_rounds = 10;  // at four placements

  // Of ratios, one per round. nullptr: go on. Else why it stops: "precision" or "max_time".
  const char* why_stop(const PlacedSample& ratios, double elapsed_s) const;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_STATISTICS_H_
