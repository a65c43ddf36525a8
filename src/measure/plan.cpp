#include "src/measure/plan.h"

#include <algorithm>
#include <cmath>

namespace rope_bench {
namespace {

constexpr double kWindowSeconds = 200e-6;
// Device memory pauses: equal windows of 200 us differ by some 3 us or not at all, as they catch a
// pause or none. Longer ones differ by no more. Long launches get them; of short ones it would take
// many, and they wait for other things than for bytes.
constexpr double kLongWindowSeconds = 800e-6;
constexpr int kFewLaunches = 64;
constexpr int kMostLaunches = 512;
// In place, magnitudes grow with every rotation by the attention factor: few repeats.
constexpr int kMostRepeats = 8;
constexpr int kMostWindows = 32;
// What a cache may be faster than memory.
constexpr double kCacheSpeed = 3;
// Fewer sets than this, only because each has its own table: rather share the table and say so.
constexpr size_t kFewSets = 8;

size_t sets_in(size_t bytes, const SetLayout& layout) {
  return bytes / std::max<size_t>(layout.stride, 1);
}

// Longer windows where a planted slowdown needs them; false if there are too few sets.
bool plant_slowdown(const PlanInput& input, int most_launches, Plan* plan) {
  // A host's window has no shorter one to be compared with.
  const int start = input.is_host ? 0 : plan->short_launches;
  const int between = plan->long_launches - start;
  const int multiples = std::max(1, between / input.slow_every);
  if (start + multiples * input.slow_every > most_launches) return false;
  plan->long_launches = start + multiples * input.slow_every;
  plan->slow_every = input.slow_every;
  // Cold: each has a set that nothing else touches.
  plan->scratch_sets = input.cache == CacheMode::kWarm
                           ? std::max(1, plan->num_sets / input.slow_every)
                           : plan->scratch_launches(plan->long_launches);
  return true;
}

int launches_of(double seconds, double launch_seconds) {
  return static_cast<int>(std::min(std::ceil(seconds / launch_seconds), 1.0 * kMostLaunches));
}

}  // namespace

Plan Plan::quick() const {
  Plan result = as_it_is();
  const int between = std::min(quick_launches, long_launches - short_launches);
  result.short_launches = std::min(short_launches, std::max(1, between / 4));
  result.long_launches = result.short_launches + between;
  return result;
}

Plan make_plan(const PlanInput& input) {
  Plan plan;
  const double peak = input.peak_gb_s * 1e9 * (input.cache == CacheMode::kWarm ? kCacheSpeed : 1);
  const double seconds =
      std::max({input.floor_s, static_cast<double>(input.bytes.total()) / peak, 1e-7});
  plan.quick_launches = std::max(2, launches_of(kWindowSeconds, seconds));
  int wanted = plan.quick_launches;
  if (!input.is_host)
    wanted = std::max(wanted, std::min(launches_of(kLongWindowSeconds, seconds), kFewLaunches));
  wanted = std::clamp(wanted, input.slow_every, kMostLaunches);
  plan.short_launches = std::max(1, wanted / 4);
  plan.long_launches = plan.short_launches + wanted;

  const size_t launches = static_cast<size_t>(plan.long_launches);
  const size_t own = sets_in(input.set_budget, input.own),
               shared = sets_in(input.set_budget, input.shared);
  plan.own_tables = own >= std::min(launches, kFewSets) || own >= shared;
  size_t sets = std::clamp<size_t>(plan.own_tables ? own : shared, 2, launches);
  if (input.cache == CacheMode::kWarm) {
    const size_t resident = static_cast<size_t>(input.cache_bytes) / 4 /
                            static_cast<size_t>(std::max<int64_t>(input.bytes.footprint(), 1));
    sets = std::clamp<size_t>(resident, 2, sets);
  }
  plan.num_sets = static_cast<int>(sets);
  const int most = plan.num_sets * (input.cache == CacheMode::kWarm ? kMostRepeats : 1);
  plan.long_launches = std::min(plan.long_launches, most);
  plan.short_launches = std::min(plan.short_launches, std::max(1, plan.long_launches / 2));
  if (input.slow_every > 0) plant_slowdown(input, most, &plan);
  if (input.is_host) return plan;
  const double difference = (plan.long_launches - plan.short_launches) * seconds;
  plan.windows =
      std::clamp(static_cast<int>(std::ceil(kWindowSeconds / difference - 1e-6)), 1, kMostWindows);
  return plan;
}

}  // namespace rope_bench
