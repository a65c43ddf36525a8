#include "src/gate/paired.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "src/gate/student.h"

namespace rope_bench {
namespace {

// Printed tables of the distribution.
TEST(Student, MatchesTables) {
  EXPECT_NEAR(student_upper(0, 5), 0.5, 1e-14);
  EXPECT_NEAR(student_upper(1, 1), 0.25, 1e-12);  // Cauchy
  EXPECT_NEAR(student_upper(std::sqrt(2.0), 2), (1 - 1 / std::sqrt(2.0)) / 2, 1e-12);
  EXPECT_NEAR(student_upper(-1, 1), 0.75, 1e-12);
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.05, 9), 1.833, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 9), 2.262, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 1e6), 1.95996, 5e-5);  // the normal limit
  EXPECT_NEAR(student_quantile(0.975, 9), -2.262, 5e-4);
  EXPECT_EQ(student_upper(std::numeric_limits<double>::infinity(), 3), 0);
}

// ln: 0, 0.02, 0.04: mean 0.02, sd 0.02, error 0.02 / sqrt(3); t(0.025, 2) = 4.30265.
TEST(PairedTest, OfThreeRounds) {
  const PairedTest test = paired_test({0, 0.02, 0.04}, 0.02);
  EXPECT_NEAR(test.sd, 0.02, 1e-12);
  EXPECT_NEAR(test.change.slowdown, std::exp(0.02) - 1, 1e-12);
  EXPECT_NEAR(test.change.high, std::exp(0.02 + 4.30265 * 0.02 / std::sqrt(3.0)) - 1, 1e-6);
  // t = (0.02 - ln 1.02) / error = 0.017075; with 2 degrees P(T > t) = (1 - t / sqrt(2 + t^2)) / 2.
  const double t = (0.02 - std::log(1.02)) / (0.02 / std::sqrt(3.0));
  EXPECT_NEAR(test.p_slower, (1 - t / std::sqrt(2 + t * t)) / 2, 1e-12);
  EXPECT_NEAR(test.p_slower + test.p_within, 1, 1e-12);
  EXPECT_LT(test.p_slower, test.p_faster);
}

TEST(PairedTest, WithoutNoiseTheSignDecides) {
  EXPECT_EQ(paired_test({0.05, 0.05}, 0.02).p_slower, 0);
  EXPECT_EQ(paired_test({0.05, 0.05}, 0.02).p_within, 1);
  EXPECT_EQ(paired_test({0.0, 0.0}, 0.02).p_within, 0);
  EXPECT_EQ(paired_test({-0.05, -0.05}, 0.02).p_faster, 0);
}

TEST(Holm, StepsDownUntilTheFirstThatHolds) {
  using Bools = std::vector<bool>;
  // 0.05 / 3, 0.05 / 2, 0.05: 0.01 and 0.02 fall, 0.06 holds.
  EXPECT_EQ(holm({0.02, 0.06, 0.01}, 0.05), (Bools{true, false, true}));
  // 0.03 is above 0.025: it and everything larger holds, 0.04 too although it is under 0.05.
  EXPECT_EQ(holm({0.01, 0.03, 0.04}, 0.05), (Bools{true, false, false}));
  EXPECT_EQ(holm({0.02, 0.02, 0.02}, 0.05), (Bools{false, false, false}));
  EXPECT_EQ(holm({}, 0.05), Bools{});
}

// Share of 20,000 seeded samples in which the test calls the case slower.
double share_called_slower(double slowdown, double sd, size_t rounds, double margin) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(std::log1p(slowdown), sd);
  constexpr int kTrials = 20000;
  int slower = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> sample;
    for (size_t r = 0; r < rounds; ++r) sample.push_back(noise(random));
    slower += paired_test(sample, margin).p_slower <= kAlpha ? 1 : 0;
  }
  return static_cast<double>(slower) / kTrials;
}

// On the margin itself the level is kept: 5 %, of 20,000 within 4 standard errors of 0.0015.
TEST(Simulation, TheLevelIsKeptOnTheMargin) {
  EXPECT_NEAR(share_called_slower(0.02, 0.01, 10, 0.02), 0.05, 0.0062);
  EXPECT_NEAR(share_called_slower(0.02, 0.05, 5, 0.02), 0.05, 0.0062);
}

TEST(Simulation, FalseAlarmsAreAsRareAsSaid) {
  for (const double sd : {0.02, 0.05}) {
    const double said = false_alarm_rate(sd, 8, 0.02), found = share_called_slower(0, sd, 8, 0.02);
    // The margin is a noncentral shift; the formula is an upper bound that stays within 3 points.
    EXPECT_LE(found, said + 0.002) << sd;
    EXPECT_NEAR(found, said, 0.03) << sd;
  }
  EXPECT_EQ(false_alarm_rate(0, 8, 0.02), 0);
  EXPECT_LT(false_alarm_rate(0.005, 10, 0.02), 1e-5);
}

// What is said to be found with 95 % power is, within what the formula's approximation costs.
TEST(Simulation, PowerIsAsSaid) {
  for (const size_t rounds : {6u, 10u, 20u}) {
    for (const double sd : {0.005, 0.02}) {
      const double slowdown = smallest_slowdown(sd, rounds, 0.02, 0.95);
      EXPECT_GT(slowdown, 0.02);
      EXPECT_NEAR(share_called_slower(slowdown, sd, rounds, 0.02), 0.95, 0.025) << rounds;
    }
  }
}

}  // namespace
}  // namespace rope_bench
