#include "src/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rope_bench {

double quantile(std::vector<double> sample, double p) {
  std::sort(sample.begin(), sample.end());
  const double rank = p * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<size_t>(rank);
  if (below + 1 >= sample.size()) return sample.back();
  const double fraction = rank - static_cast<double>(below);
  return sample[below] + fraction * (sample[below + 1] - sample[below]);
}

double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

Interval median_interval(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<int>(sample.size());
  // The number of values below the median is binomial(n, 1/2). k: the most values that may be cut
  // off at each end while P(X < k) stays at or under 2.5 %.
  double probability = std::ldexp(1.0, -std::min(n, 1000));
  double below = probability;
  int k = 0;
  while (n < 1000 && below <= 0.025 && k < n / 2) {
    ++k;
    probability *= static_cast<double>(n - k + 1) / k;
    below += probability;
  }
  if (n >= 1000)
    k = static_cast<int>(n / 2.0 - 0.98 * std::sqrt(n));  // the normal limit of the same
  const int cut = std::max(0, k - 1);
  return {sample[static_cast<size_t>(cut)], sample[static_cast<size_t>(n - 1 - cut)]};
}

double median_absolute_deviation(const std::vector<double>& sample) {
  const double middle = median(sample);
  std::vector<double> deviations;
  for (const double value : sample) deviations.push_back(std::fabs(value - middle));
  return median(std::move(deviations));
}

Drift drift_of(const std::vector<double>& sample) {
  const auto tenth = static_cast<std::ptrdiff_t>((sample.size() + 9) / 10);
  return {median({sample.begin(), sample.begin() + tenth}),
          median({sample.end() - tenth, sample.end()})};
}

Interval ratio_interval(const std::vector<double>& ratios) {
  const double middle = median(ratios);
  const Interval rounds = median_interval(ratios);
  const double processes = kBetweenProcesses * std::fabs(middle);
  return {middle - std::hypot(middle - rounds.low, processes),
          middle + std::hypot(rounds.high - middle, processes)};
}

const char* StoppingRule::why_stop(const std::vector<double>& ratios, double elapsed_s) const {
  const auto rounds = static_cast<int64_t>(ratios.size());
  if (rounds < std::min<int64_t>(min_rounds, 3)) return nullptr;
  if (elapsed_s >= std::max(max_time_s, min_time_s)) return "max_time";
  if (rounds < min_rounds || elapsed_s < min_time_s) return nullptr;
  const Interval interval = ratio_interval(ratios);
  const double middle = median(ratios);
  return (interval.high - interval.low) / 2 <= precision * std::fabs(middle) ? "precision"
                                                                             : nullptr;
}

}  // namespace rope_bench
