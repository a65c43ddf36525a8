#include "src/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

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

int64_t placement_of_round(int64_t round) {
  int64_t placement = 0, rounds_each = 3;
  while (round >= 4 * rounds_each) {
    round -= 4 * rounds_each;
    placement += 4;
    rounds_each *= 2;
  }
  return placement + round / rounds_each;
}

namespace {

// 0.975 quantiles of Student's t with 1, 2, ... degrees of freedom; beyond the table the last one
// is a little wide.
double t_quantile(size_t degrees) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                               2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
  return kTable[std::min(degrees, std::size(kTable)) - 1];
}

double placement_error(const PlacedSample& sample) {
  std::map<int64_t, std::vector<double>> by_placement;
  for (size_t i = 0; i < sample.values.size(); ++i)
    by_placement[sample.placements[i]].push_back(sample.values[i]);
  std::vector<double> medians;
  for (const auto& [placement, values] : by_placement) medians.push_back(median(values));
  const auto n = static_cast<double>(medians.size());
  if (n < 2) return 0;
  if (n == 2) return std::fabs(medians[0] - medians[1]) / 2;
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / n;
  double squares = 0;
  for (const double value : medians) squares += (value - mean) * (value - mean);
  return t_quantile(medians.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

}  // namespace

Interval placed_interval(const PlacedSample& sample, double between) {
  const double middle = median(sample.values);
  const Interval rounds = median_interval(sample.values);
  const double placements = placement_error(sample), processes = between * std::fabs(middle);
  return {middle - std::hypot(std::max(middle - rounds.low, placements), processes),
          middle + std::hypot(std::max(rounds.high - middle, placements), processes)};
}

const char* StoppingRule::why_stop(const PlacedSample& ratios, double elapsed_s) const {
  const auto rounds = static_cast<int64_t>(ratios.values.size());
  if (rounds < std::min<int64_t>(min_rounds, 3)) return nullptr;
  if (elapsed_s >= std::max(max_time_s, min_time_s)) return "max_time";
  if (rounds < min_rounds || elapsed_s < min_time_s) return nullptr;
  const Interval interval = placed_interval(ratios, kBetweenProcesses);
  const double middle = median(ratios.values);
  return (interval.high - interval.low) / 2 <= precision * std::fabs(middle) ? "precision"
                                                                             : nullptr;
}

}  // namespace rope_bench
