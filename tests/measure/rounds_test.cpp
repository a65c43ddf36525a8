#include "src/measure/rounds.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

TEST(Rounds, WithoutAPositiveTimeTheyDoNotCount) {
  Rounds rounds;
  rounds.add(-1e-6, 1e-6, true, {});
  EXPECT_TRUE(rounds.empty());
  rounds.add(2e-6, 1e-6, true, {});
  rounds.add(2e-6, 0, true, {});
  rounds.add(4e-6, 1e-6, true, {});
  const GateVerdict verdict = rounds.verdict(false);
  EXPECT_EQ(rounds.ratios(verdict), std::vector<double>({0.5, 0.25}));
  Timing t;
  rounds.summarise(verdict, &t);
  EXPECT_EQ(t.num_rounds, 2);
  EXPECT_EQ(t.num_dropped, 2);
  EXPECT_EQ(t.dropped_reason, "2 without a positive time");
  EXPECT_EQ(t.round_times_us, std::vector<double>({2, 4}));
  EXPECT_DOUBLE_EQ(t.median_us, 3);
  EXPECT_DOUBLE_EQ(t.mad_us, 1);
  EXPECT_DOUBLE_EQ(t.min_us, 2);
  EXPECT_DOUBLE_EQ(t.first_tenth_us, 2);
  EXPECT_DOUBLE_EQ(t.last_tenth_us, 4);
  EXPECT_FALSE(t.sm_clock_mhz);
}

TEST(Rounds, BothReasonsAreSaid) {
  Rounds rounds;
  rounds.add(2e-6, 1e-6, true, {1980, 3201, 0});
  rounds.add(2e-6, 1e-6, true, {1500, 3201, 0});
  rounds.add(-2e-6, 1e-6, true, {1980, 3201, 0});
  Timing t;
  rounds.summarise(rounds.verdict(false), &t);
  EXPECT_EQ(t.num_rounds, 1);
  EXPECT_EQ(t.num_dropped, 2);
  EXPECT_EQ(t.dropped_reason,
            "1 of 2 rounds more than 2 % under the highest clock, 1 without a positive time");
}

// No limit runs the case: the time itself is what must become precise.
TEST(Rounds, WithoutALimitTheRateStandsInForTheRatio) {
  Rounds rounds;
  rounds.add(4e-6, 0, false, {});
  EXPECT_DOUBLE_EQ(rounds.ratios(rounds.verdict(false)).at(0), 250'000);
}

}  // namespace
}  // namespace rope_bench
