#include "src/measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace rope_bench {
namespace {

TEST(Statistics, Quantiles) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(quantile({10, 20, 30, 40, 50}, 0.05), 12);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.95), 7);
}

// From tables of the binomial distribution: with n values the interval runs from the k-th smallest
// to the k-th largest, k = 1 for n = 6..8, 2 for 9..11, 3 for 12..14, 6 for 20, 10 for 30.
TEST(Statistics, MedianIntervalUsesTheOrderStatisticsOfTheTables) {
  const std::pair<int, int> table[] = {{6, 1},  {8, 1},  {9, 2},  {11, 2},
                                       {12, 3}, {15, 4}, {20, 6}, {30, 10}};
  for (const auto& [n, k] : table) {
    std::vector<double> sample;
    for (int i = 1; i <= n; ++i) sample.push_back(i);
    const Interval interval = median_interval(sample);
    EXPECT_EQ(interval.low, k) << n;
    EXPECT_EQ(interval.high, n + 1 - k) << n;
  }
}

TEST(Statistics, MedianIntervalCoversTheMedianAtLeastAsOftenAsPromised) {
  std::mt19937 random(1);
  std::exponential_distribution<double> skewed;
  for (const int n : {7, 15, 40, 1200}) {
    int covered = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> sample(static_cast<size_t>(n));
      for (double& value : sample) value = skewed(random);
      const Interval interval = median_interval(sample);
      covered += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, kTrials * 94 / 100) << n;
  }
}

TEST(Statistics, MedianAbsoluteDeviation) {
  EXPECT_DOUBLE_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);  // |x - 2|: 1 1 0 0 2 4 7
  EXPECT_DOUBLE_EQ(median_absolute_deviation({5}), 0);
}

// C148: 15 % slower from the first to the last tenth.
TEST(Statistics, DriftIsTheFirstTenthAgainstTheLast) {
  std::vector<double> sample;
  for (int i = 0; i < 100; ++i) sample.push_back(100 + 15.0 * i / 99);
  sample[2] = 900;  // a spike is no drift
  const Drift drift = drift_of(sample);
  EXPECT_NEAR(drift.first, 100.8, 0.1);
  EXPECT_NEAR(drift.last, 114.3, 0.1);
  EXPECT_EQ(drift_of({3, 2, 1}).first, 3);
  EXPECT_EQ(drift_of({3, 2, 1}).last, 1);
}

// Errors that are independent add up in squares: rounds from 0.90 to 0.96 around 0.93, and 0.2 % of
// that between processes.
TEST(Statistics, AnIntervalOfRatiosHoldsWhatProcessesDifferBy) {
  const Interval interval = ratio_interval({0.90, 0.92, 0.93, 0.94, 0.96});
  EXPECT_NEAR(0.93 - interval.low, std::hypot(0.03, 0.93 * kBetweenProcesses), 1e-12);
  EXPECT_NEAR(interval.high - 0.93, std::hypot(0.03, 0.93 * kBetweenProcesses), 1e-12);
}

std::string stops(const StoppingRule& rule, const std::vector<double>& ratios, double elapsed) {
  const char* why = rule.why_stop(ratios, elapsed);
  return why == nullptr ? "" : why;
}

TEST(StoppingRule, SyntheticSamples) {
  StoppingRule rule;
  rule.precision = 0.005;
  rule.max_time_s = 1;
  // All equal: at the least number of rounds, not before.
  EXPECT_EQ(stops(rule, std::vector<double>(9, 0.9), 0.1), "");
  EXPECT_EQ(stops(rule, std::vector<double>(10, 0.9), 0.1), "precision");
  // A drift keeps the interval wide until time is up.
  std::vector<double> drift;
  for (int i = 0; i < 40; ++i) drift.push_back(0.8 + 0.01 * i);
  EXPECT_EQ(stops(rule, drift, 0.9), "");
  EXPECT_EQ(stops(rule, drift, 1.0), "max_time");
  // Two modes: the median lies in either, the interval in both.
  std::vector<double> modes;
  for (int i = 0; i < 20; ++i) modes.push_back(i % 2 == 0 ? 0.8 : 0.9);
  EXPECT_EQ(stops(rule, modes, 0.5), "");
  // A step.
  std::vector<double> step(12, 0.9);
  step.resize(20, 0.95);
  EXPECT_EQ(stops(rule, step, 0.5), "");
  // A few spikes do not matter to a median.
  std::vector<double> spikes(30, 0.9);
  spikes[3] = spikes[17] = 5;
  EXPECT_EQ(stops(rule, spikes, 0.5), "precision");
  // Zeros are precise, if worthless; nothing divides by them.
  EXPECT_EQ(stops(rule, std::vector<double>(10, 0.0), 0.1), "precision");
  // Slow rounds: three are enough once time is up.
  EXPECT_EQ(stops(rule, {0.9, 0.8}, 5), "");
  EXPECT_EQ(stops(rule, {0.9, 0.8, 0.9}, 5), "max_time");
}

TEST(StoppingRule, MinTimeOutlastsPrecisionAndMaxTime) {
  StoppingRule rule;
  rule.min_time_s = 2;
  rule.max_time_s = 1;
  const std::vector<double> equal(10, 0.9);
  EXPECT_EQ(stops(rule, equal, 1.5), "");
  EXPECT_EQ(stops(rule, equal, 2.0), "max_time");
}

// Nothing gets more precise than what processes differ by.
TEST(StoppingRule, PrecisionBelowTheSpreadOfProcessesIsNotReached) {
  StoppingRule rule;
  const std::vector<double> equal(100, 0.9);
  rule.precision = 0.0021;
  EXPECT_EQ(stops(rule, equal, 0.5), "precision");
  rule.precision = 0.0019;
  EXPECT_EQ(stops(rule, equal, 0.5), "");
  EXPECT_EQ(stops(rule, equal, 1), "max_time");
}

}  // namespace
}  // namespace rope_bench
