// Which rounds count, on made-up clocks; the loop below stands for a measurement.
#include "src/measure/round_gate.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

DeviceState at(int sm, uint64_t throttle = 0, int memory = 3201) { return {sm, memory, throttle}; }

GateVerdict gate(const std::vector<DeviceState>& rounds, bool time_is_up = false) {
  RoundGate gate;
  for (const DeviceState& round : rounds) gate.add(round);
  return gate.verdict(time_is_up);
}

using Kept = std::vector<size_t>;

TEST(RoundGate, SteadyClocksKeepEverything) {
  // 1941 is 98.03 % of 1980: inside.
  const GateVerdict verdict = gate({at(1980), at(1941), at(1980, 0x1)});
  EXPECT_EQ(verdict.kept, Kept({0, 1, 2}));
  EXPECT_EQ(verdict.reason, "");
  EXPECT_FALSE(verdict.gave_up);
}

TEST(RoundGate, ARoundThatLeavesTheBandIsMeasuredAgain) {
  const GateVerdict verdict = gate({at(1980), at(1935), at(1980), at(1980, 0, 3000)});
  EXPECT_EQ(verdict.kept, Kept({0, 2}));
  EXPECT_EQ(verdict.off_clock, 2);
  EXPECT_EQ(verdict.reason, "2 of 4 rounds more than 2 % under the highest clock");
}

// Clocks ramp up from 345 MHz: the early rounds go when the later ones show what is normal.
TEST(RoundGate, ARampTurnsEarlyRoundsDown) {
  EXPECT_EQ(gate({at(345), at(345)}).kept, Kept({0, 1}));
  const GateVerdict verdict = gate({at(345), at(1200), at(1980), at(1980)});
  EXPECT_EQ(verdict.kept, Kept({2, 3}));
  EXPECT_EQ(verdict.off_clock, 2);
}

TEST(RoundGate, ThrottledRoundsAreCountedWithTheirCause) {
  const GateVerdict verdict = gate({at(1980), at(1980, 0x4), at(1700, 0x4 | 0x20), at(1700)});
  EXPECT_EQ(verdict.kept, Kept({0}));
  EXPECT_EQ(verdict.throttled, 2);
  EXPECT_EQ(verdict.off_clock, 1);
  EXPECT_EQ(verdict.reason,
            "throttled in 2 of 4 rounds (software power cap, software thermal slowdown), "
            "1 of 4 rounds more than 2 % under the highest clock");
}

// Idle, a clock set by somebody, sync boost: nothing that comes and goes with the load.
TEST(RoundGate, OtherReasonsAreNoThrottling) {
  EXPECT_EQ(gate({at(1980, 0x1), at(1980, 0x2), at(1980, 0x10), at(1980, 0x100)}).kept.size(), 4u);
}

// C146: nothing but throttled rounds. The gate gives up after so many, and at once when time is up.
TEST(RoundGate, EveryRowEnds) {
  RoundGate gate;
  int rounds = 0;
  while (!gate.verdict(false).gave_up) {
    gate.add(at(1400, 0x8));
    ASSERT_LE(++rounds, 32);
  }
  EXPECT_EQ(gate.verdict(false).kept.size(), 32u);
  EXPECT_EQ(gate.verdict(false).reason, "throttled in 32 of 32 rounds (hardware slowdown)");

  RoundGate slow;
  slow.add(at(1400, 0x8));
  EXPECT_FALSE(slow.verdict(false).gave_up);
  EXPECT_TRUE(slow.verdict(true).gave_up);
  EXPECT_EQ(slow.verdict(true).kept, Kept({0}));
}

// Every other round low: half of the work is lost, the row is not.
TEST(RoundGate, FlappingClocksKeepTheGoodHalf) {
  RoundGate gate;
  for (int i = 0; i < 200; ++i) gate.add(at(i % 2 == 0 ? 1980 : 1500));
  const GateVerdict verdict = gate.verdict(true);
  EXPECT_FALSE(verdict.gave_up);
  EXPECT_EQ(verdict.kept.size(), 100u);
  EXPECT_EQ(verdict.off_clock, 100);
  // One good round in three is too few.
  for (int i = 0; i < 100; ++i) gate.add(at(1500));
  EXPECT_TRUE(gate.verdict(false).gave_up);
}

TEST(RoundGate, ADeviceThatSaysNothingHasNoBadRounds) {
  RoundGate gate;
  for (int i = 0; i < 5; ++i) gate.add({});
  EXPECT_EQ(gate.verdict(true).kept.size(), 5u);
  EXPECT_FALSE(gate.sm_clock_mhz());
  gate.add(at(1980));
  EXPECT_EQ(gate.verdict(true).kept.size(), 6u);
  EXPECT_EQ(gate.sm_clock_mhz(), 1980);
}

}  // namespace
}  // namespace rope_bench
