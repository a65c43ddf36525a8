#include "src/gate/noise.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "src/gate/paired.h"

namespace rope_bench {
namespace {

TEST(Noise, IsTakenApart) {
  // Rounds at levels that differ by 3 %, both sides with noise of 1 %; runs with noise of 0.5 %.
  std::mt19937_64 random(3);
  std::normal_distribution<double> one(0, 1);
  AaSample sample;
  for (int i = 0; i < 20000; ++i) {
    const double level = 0.03 * one(random);
    sample.a_us.push_back(100 * std::exp(level + 0.01 * one(random)));
    sample.b_us.push_back(100 * std::exp(level + 0.01 * one(random)));
    sample.run_log.push_back(0.005 * one(random));
    sample.run_half.push_back(0.004);
  }
  const Noise noise = noise_of(sample);
  EXPECT_NEAR(noise.round, std::sqrt(2.0) * 0.01, 3e-4);
  EXPECT_NEAR(noise.layout, 0.03, 6e-4);
  EXPECT_NEAR(noise.run, 0.005, 1e-4);
  EXPECT_NEAR(noise.interval, 0.004, 1e-9);
}

TEST(Noise, OfFewValuesIsNone) {
  EXPECT_EQ(standard_deviation({1}), 0);
  EXPECT_DOUBLE_EQ(standard_deviation({1, 3}), std::sqrt(2.0));
  EXPECT_EQ(noise_of({}).round, 0);
}

// With a margin of its own a case alarms once in a thousand.
TEST(Detection, MarginsKeepFalseAlarmsRare) {
  Noise noise;
  noise.round = noise.run = 0.1;
  const Detection gate = gate_detection(noise, 10, 0.02);
  EXPECT_GT(gate.margin, 0.02);
  EXPECT_NEAR(false_alarm_rate(0.1, 10, gate.margin), 0.001, 1e-6);
  EXPECT_GT(gate.smallest, 0.02);
  const Detection compare = compare_detection(noise, 8, 0.02);
  EXPECT_GT(compare.false_alarm, 0.3);
  EXPECT_NEAR(compare_detection(noise, 8, compare.margin).false_alarm, 0.001, 1e-6);
  noise.round = noise.run = 0.0005;
  EXPECT_EQ(gate_detection(noise, 10, 0.02).margin, 0.02);
  EXPECT_EQ(compare_detection(noise, 8, 0.02).margin, 0.02);
}

// Pairs of simulated runs, judged as compare does: low end of the change above the margin.
TEST(Detection, OfCompareIsAsSaidInSimulation) {
  Noise noise;
  noise.run = 0.004;
  noise.interval = 0.005;
  const double margin = 0.02;
  const Detection said = compare_detection(noise, 1000, margin);
  std::mt19937_64 random(5);
  std::normal_distribution<double> run(0, noise.run);
  int found = 0;
  constexpr int kTrials = 20000;
  for (int i = 0; i < kTrials; ++i) {
    const double base = std::exp(run(random)), now = (1 + said.smallest) * std::exp(run(random));
    const auto with = [&](double v) {
      return Estimate{v, v * std::exp(-noise.interval), v * std::exp(noise.interval)};
    };
    found += judge_change(change_of_time(with(base), with(now)), margin) == Beyond::kSlower ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(found) / kTrials, 0.95, 0.007);
}

}  // namespace
}  // namespace rope_bench
