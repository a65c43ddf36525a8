#include "src/measure/plan.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

PlanInput h200(int64_t tensor_bytes, size_t set_stride) {
  PlanInput input;
  input.bytes.read = input.bytes.write = tensor_bytes / 2;
  input.bytes.in_place = true;
  input.own.stride = set_stride;
  input.shared.stride = set_stride;
  input.set_budget = size_t{35} << 30;
  input.cache_bytes = int64_t{60} << 20;
  input.peak_gb_s = 4300;
  input.floor_s = 0.5e-6;
  return input;
}

// Cold: every launch of a window has a set of its own, and the windows differ by at least 200 us.
TEST(Plan, ColdLaunchesHaveTheirOwnSets) {
  for (const int64_t bytes :
       {int64_t{20'480}, int64_t{1'310'720}, int64_t{83'886'080}, int64_t{2'684'354'560}}) {
    const Plan plan = make_plan(h200(bytes, static_cast<size_t>(bytes / 2)));
    EXPECT_EQ(plan.num_sets, plan.long_launches) << bytes;
    EXPECT_EQ(plan.repeats(), 1) << bytes;
    EXPECT_LT(plan.short_launches, plan.long_launches) << bytes;
    const double seconds = std::max(0.5e-6, static_cast<double>(bytes) / 4.3e12);
    if (bytes < 1'000'000'000) {
      EXPECT_GE((plan.long_launches - plan.short_launches) * seconds, 0.99 * 200e-6) << bytes;
    }
    EXPECT_TRUE(plan.own_tables);
  }
}

// From 1 us to 10 ms: the launches between the windows are a multiple of `slow_every`, so that the
// planted share is exact, and scratch launches have sets of their own.
TEST(Plan, APlantedSlowdownIsExact) {
  for (const int every : {4, 20, 33, 100}) {
    for (int64_t bytes = 4'000'000; bytes < 40'000'000'000; bytes *= 3) {
      PlanInput input = h200(bytes, 1000);
      input.slow_every = every;
      const Plan plan = make_plan(input);
      ASSERT_EQ(plan.slow_every, every) << bytes;
      const int between = plan.long_launches - plan.short_launches;
      EXPECT_GT(between, 0);
      EXPECT_EQ(between % every, 0) << bytes;
      EXPECT_EQ(
          plan.scratch_launches(plan.long_launches) - plan.scratch_launches(plan.short_launches),
          between / every);
      EXPECT_GE(plan.scratch_sets, plan.scratch_launches(plan.long_launches));
      EXPECT_GE(plan.num_sets, plan.long_launches);
      EXPECT_EQ(plan.as_it_is().scratch_launches(1000), 0);
    }
  }
  // Memory for ten sets only.
  PlanInput few = h200(4'000'000'000, size_t{35} << 27);
  few.slow_every = 20;
  EXPECT_EQ(make_plan(few).slow_every, 0);
}

// Kernels from 1 us to 100 ms, cold and warm, with memory for all sets: a sample spans at least
// 200 us, 800 where that takes few launches, and not more than it must.
TEST(Plan, ASampleLastsAsLongAsItShould) {
  for (const CacheMode cache : {CacheMode::kCold, CacheMode::kWarm}) {
    for (double us = 1; us <= 100'000; us *= 1.7) {
      PlanInput input = h200(0, 0);
      const auto bytes = static_cast<int64_t>(us * 4300e3);
      input.bytes.read = bytes / 2;
      input.bytes.write = bytes - bytes / 2;
      input.own.stride = input.shared.stride = static_cast<size_t>(bytes / 2);
      input.set_budget = size_t{400} << 30;
      input.cache = cache;
      const Plan plan = make_plan(input);
      // Warm ones may be three times as fast as memory.
      const double seconds = std::max(us * 1e-6 / (cache == CacheMode::kWarm ? 3 : 1), 0.5e-6);
      const auto sample = [&](const Plan& p) {
        return p.windows * (p.long_launches - p.short_launches) * seconds;
      };
      const double wanted = std::max(200e-6, std::min(800e-6, 64 * seconds));
      EXPECT_GE(sample(plan), 0.99 * (cache == CacheMode::kCold ? wanted : 200e-6)) << us;
      // And what comes in whole numbers only: two launches, or a pair of windows.
      const auto rest = [&](const Plan& p) {
        return p.windows == 1 ? 2 * seconds : sample(p) / p.windows;
      };
      EXPECT_LE(sample(plan), wanted + rest(plan)) << us;
      EXPECT_GE(plan.short_launches, 1) << us;
      const Plan quick = plan.quick();
      EXPECT_LE(sample(quick), 200e-6 + rest(quick)) << us;
      EXPECT_GE(sample(quick), 0.99 * 200e-6) << us;
      EXPECT_GE(quick.short_launches, 1) << us;
      EXPECT_LE(quick.long_launches, plan.long_launches) << us;
    }
  }
}

// 256 tokens of 32/8 heads x 128, warm: 6 sets fit, used 8 times each. 24 launches more, of 1.2 us
// or less, are too short a difference: several make a sample.
TEST(Plan, ShortWindowsAreRepeated) {
  PlanInput input = h200(5'242'880, 2'621'440);
  input.cache = CacheMode::kWarm;
  const Plan plan = make_plan(input);
  EXPECT_EQ(plan.long_launches - plan.short_launches, 24);
  EXPECT_EQ(plan.windows, 17);  // 200 us / (24 x 5242880 B / 12900 GB/s, at least 0.5 us)
  input.is_host = true;
  EXPECT_EQ(make_plan(input).windows, 1);
}

TEST(Plan, NeverFewerThanTwoSetsHoweverLittleMemoryThereIs) {
  PlanInput input = h200(int64_t{8} << 30, size_t{4} << 30);
  input.set_budget = 1;
  const Plan plan = make_plan(input);
  EXPECT_EQ(plan.num_sets, 2);
  EXPECT_EQ(plan.short_launches, 1);
  EXPECT_EQ(plan.long_launches, 2);
}

// A table of 8 GB cannot be had once per set: then it is shared, and the row will say so.
TEST(Plan, HugeTablesAreShared) {
  PlanInput input = h200(20'480, 16'384);
  input.own.stride = size_t{8} << 30;
  const Plan plan = make_plan(input);
  EXPECT_FALSE(plan.own_tables);
  EXPECT_EQ(plan.num_sets, plan.long_launches);
}

TEST(Plan, WarmSetsFitAQuarterOfTheCacheAndAreUsedAFewTimes) {
  PlanInput input = h200(5'242'880, 2'621'440);  // 256 tokens of 32/8 heads x 128
  input.cache = CacheMode::kWarm;
  const Plan plan = make_plan(input);
  EXPECT_EQ(plan.num_sets, 6);  // 60 MiB / 4 / 2.5 MiB
  EXPECT_LE(plan.repeats(), 8);
  input.bytes.in_place = false;  // outputs take room as well
  EXPECT_EQ(make_plan(input).num_sets, 3);
  input = h200(83'886'080, 41'943'040);
  input.cache = CacheMode::kWarm;
  EXPECT_EQ(make_plan(input).num_sets, 2);
}

}  // namespace
}  // namespace rope_bench
