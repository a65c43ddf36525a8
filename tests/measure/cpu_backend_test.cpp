// The CPU device: threads stay where they are during a window, and only then.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "src/measure/backend.h"

namespace rope_bench {
namespace {

std::vector<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> seen;

int32_t note_affinity(const RopeKernelArgs*) {
  seen = allowed();
  return 0;
}

RopeVariant noting() {
  RopeVariant variant{};
  variant.name = "noting";
  variant.launch = note_affinity;
  return variant;
}

TEST(CpuBackend, TheCallerIsPinnedDuringAWindowAndFreeAfterIt) {
  const auto backend = make_cpu_backend();
  const std::vector<int> before = allowed();
  const RopeVariant variant = noting();
  const auto window = backend->record({{&variant, {}}});
  backend->time(*window);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(std::count(before.begin(), before.end(), seen[0]), 1) << "outside of the affinity mask";
  EXPECT_EQ(allowed(), before);
  backend->time_isolated({&variant, {}});
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(allowed(), before);
}

TEST(CpuBackend, ANarrowAffinityIsKept) {
  const std::vector<int> before = allowed();
  cpu_set_t one, all;
  CPU_ZERO(&one);
  CPU_ZERO(&all);
  CPU_SET(before.back(), &one);
  for (const int core : before) CPU_SET(core, &all);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const auto backend = make_cpu_backend();
  EXPECT_EQ(backend->num_threads(), 1);
  const RopeVariant variant = noting();
  const auto window = backend->record({{&variant, {}}});
  backend->time(*window);
  EXPECT_EQ(seen, std::vector<int>({before.back()}));
  EXPECT_EQ(allowed(), std::vector<int>({before.back()}));
  EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

// Other caches than those of the whole machine: what rows are told to live in.
TEST(CpuBackend, KnowsItsCaches) {
  const auto backend = make_cpu_backend();
  EXPECT_GT(backend->info().l2_bytes, 0);
  EXPECT_GE(backend->info().own_l2_bytes, 0);
  EXPECT_EQ(backend->info().own_l2_bytes % backend->num_threads(), 0);
}

}  // namespace
}  // namespace rope_bench
