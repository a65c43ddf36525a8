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

TEST(Statistics, PlacementsOfRounds) {
  const std::vector<int64_t> first = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5};
  for (size_t round = 0; round < first.size(); ++round)
    EXPECT_EQ(placement_of_round(static_cast<int64_t>(round)), first[round]) << round;
  EXPECT_EQ(placement_of_round(35), 7);
  EXPECT_EQ(placement_of_round(36), 8);
  EXPECT_EQ(placement_of_round(47), 8);
  EXPECT_EQ(placement_of_round(48), 9);
  // Few moves however many rounds.
  EXPECT_LT(placement_of_round(100'000), 64);
}

// Two rounds each at 4 placements whose medians are 0.90, 0.92, 0.94, 0.96: their standard
// deviation is 0.025820, t(3) = 3.182, so 3.182 x 0.025820 / 2 = 0.041080 around 0.93.
TEST(Statistics, AnIntervalIsAsWideAsPlacementsDiffer) {
  PlacedSample sample;
  for (int i = 0; i < 4; ++i) {
    for (const double noise : {-1e-6, 1e-6}) {
      sample.values.push_back(0.90 + 0.02 * i + noise);
      sample.placements.push_back(i);
    }
  }
  // The rounds alone span 0.90 to 0.96.
  const Interval interval = placed_interval(sample);
  EXPECT_NEAR(interval.low, 0.93 - 0.041080, 2e-6);
  EXPECT_NEAR(interval.high, 0.93 + 0.041080, 2e-6);
  // Errors that are independent add up in squares: 0.0041080 with 0.0031 of 0.93 or so.
  const Interval between = placed_interval(sample, 0.03);
  EXPECT_NEAR(between.high - 0.93, std::hypot(0.041080, 0.0279), 2e-6);
  EXPECT_NEAR(0.93 - between.low, std::hypot(0.041080, 0.0279), 2e-6);
}

TEST(Statistics, OnePlacementAddsNothingAndTwoTheirDifference) {
  const std::vector<double> values = {0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96};
  EXPECT_DOUBLE_EQ(placed_interval({values, std::vector<int64_t>(7, 5)}).low, 0.9);
  PlacedSample two;
  for (int i = 0; i < 40; ++i) {
    two.values.push_back(i < 20 ? 0.9 : 1.0);
    two.placements.push_back(i < 20 ? 3 : 4);
  }
  const Interval interval = placed_interval(two);
  EXPECT_DOUBLE_EQ(interval.low, 0.9);
  EXPECT_DOUBLE_EQ(interval.high, 1.0);
}

// Rows of 16 rounds at 4 placements whose places alone move the ratio by 0.5 %: the interval of
// rounds as if they were independent misses the truth far too often, the placed one does not.
TEST(Statistics, ThePlacedIntervalCoversWhatPlacesMove) {
  std::mt19937 random(7);
  std::normal_distribution<double> place(0, 0.005), noise(0, 0.0005);
  int plain = 0, placed = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    PlacedSample sample;
    for (int p = 0; p < 4; ++p) {
      const double here = 0.9 + place(random);
      for (int i = 0; i < 4; ++i) {
        sample.values.push_back(here + noise(random));
        sample.placements.push_back(p);
      }
    }
    const Interval narrow = median_interval(sample.values), wide = placed_interval(sample);
    plain += narrow.low <= 0.9 && 0.9 <= narrow.high ? 1 : 0;
    placed += wide.low <= 0.9 && 0.9 <= wide.high ? 1 : 0;
  }
  EXPECT_LT(plain, kTrials * 90 / 100);
  EXPECT_GE(placed, kTrials * 94 / 100);
}

// Rounds at the placements that they would have.
PlacedSample placed(const std::vector<double>& values) {
  PlacedSample sample{values, {}};
  for (size_t i = 0; i < values.size(); ++i)
    sample.placements.push_back(placement_of_round(static_cast<int64_t>(i)));
  return sample;
}

std::string stops(const StoppingRule& rule, const std::vector<double>& ratios, double elapsed) {
  const char* why = rule.why_stop(placed(ratios), elapsed);
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
  // A step: the median lies on one side of it, the placements on both.
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
