#include "src/compare/change.h"

#include <algorithm>
#include <cmath>

namespace rope_bench {

Change change_of_time(const Estimate& base, const Estimate& now) {
  const double change = std::log(now.value / base.value);
  const double down = std::hypot(std::log(base.high / base.value), std::log(now.value / now.low));
  const double up = std::hypot(std::log(base.value / base.low), std::log(now.high / now.value));
  return {std::expm1(change), std::expm1(change - down), std::expm1(change + up)};
}

Change change_of_ratio(const Estimate& base, const Estimate& now) {
  return change_of_time(now, base);
}

double effective_margin(double margin, double floor_us, double base_time_us) {
  return std::max(margin, floor_us / base_time_us);
}

Beyond judge_change(const Change& change, double margin) {
  if (change.low > margin) return Beyond::kSlower;
  if (change.high < -margin) return Beyond::kFaster;
  return change.high <= margin ? Beyond::kInside : Beyond::kUnclear;
}

}  // namespace rope_bench
