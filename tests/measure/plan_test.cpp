#include "src/measure/plan.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

PlanInput h200(int64_t tensor_bytes, size_t set_stride) {
  PlanInput input;
  input.bytes.read = input.bytes.write = tensor_bytes / 2;
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
  input = h200(83'886'080, 41'943'040);
  input.cache = CacheMode::kWarm;
  EXPECT_EQ(make_plan(input).num_sets, 2);
}

}  // namespace
}  // namespace rope_bench
