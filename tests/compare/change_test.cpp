#include "src/compare/change.h"

#include <cmath>

#include "gtest/gtest.h"

namespace rope_bench {
namespace {

Estimate with_noise(double value, double share) {
  return {value, value * (1 - share), value * (1 + share)};
}

// C152: 15.70 -> 16.21 is 51 / 1570 = 3.2484 %.
TEST(Change, OfALayoutThatCostsThreePercent) {
  const Change quiet = change_of_time(with_noise(15.70, 0.0005), with_noise(16.21, 0.0005));
  EXPECT_NEAR(quiet.slowdown, 0.032484, 1e-6);
  // Two independent errors of 0.05 % make sqrt(2) x 0.05 % = 0.0707 %, of 103.248 %.
  EXPECT_NEAR(quiet.slowdown - quiet.low, 0.000730, 2e-6);
  EXPECT_EQ(judge_change(quiet, 0.03), Beyond::kSlower);
  EXPECT_EQ(judge_change(quiet, 0.05), Beyond::kInside);
  const Change loud = change_of_time(with_noise(15.70, 0.005), with_noise(16.21, 0.005));
  EXPECT_EQ(judge_change(loud, 0.03), Beyond::kUnclear);
  EXPECT_EQ(judge_change(loud, 0.05), Beyond::kInside);
}

TEST(Change, ARatioFallsWhereATimeRises) {
  const Change slower = change_of_ratio({0.8, 0.8, 0.8}, {0.64, 0.64, 0.64});
  EXPECT_NEAR(slower.slowdown, 0.25, 1e-12);  // 0.8 / 0.64
  const Change faster = change_of_ratio({0.64, 0.64, 0.64}, {0.8, 0.8, 0.8});
  EXPECT_NEAR(faster.slowdown, -0.2, 1e-12);
  EXPECT_EQ(judge_change(faster, 0.19), Beyond::kFaster);
}

// The base's upper end makes the change smaller, the new value's upper end larger.
TEST(Change, SidesOfIntervalsStayApart) {
  const Change base_only = change_of_time({10, 10, 11}, {10, 10, 10});
  EXPECT_NEAR(base_only.low, 10.0 / 11 - 1, 1e-12);
  EXPECT_NEAR(base_only.high, 0, 1e-12);
  const Change new_only = change_of_time({10, 10, 10}, {10, 10, 11});
  EXPECT_NEAR(new_only.low, 0, 1e-12);
  EXPECT_NEAR(new_only.high, 0.1, 1e-12);
}

TEST(Change, WhatMayBeFasterButNotSlowerIsInside) {
  EXPECT_EQ(judge_change({-0.03, -0.06, 0.0}, 0.02), Beyond::kInside);
  EXPECT_EQ(judge_change({-0.03, -0.06, 0.03}, 0.02), Beyond::kUnclear);
  // On the margin is within it.
  EXPECT_EQ(judge_change({0.02, 0.02, 0.02}, 0.02), Beyond::kInside);
}

TEST(Margin, OfShortTimesIsTheFloor) {
  EXPECT_DOUBLE_EQ(effective_margin(0.02, 0.3, 3), 0.1);
  EXPECT_DOUBLE_EQ(effective_margin(0.02, 0.3, 15), 0.02);
  EXPECT_DOUBLE_EQ(effective_margin(0.02, 0, 1), 0.02);
}

}  // namespace
}  // namespace rope_bench
