#include "src/measure/round_gate.h"

#include <algorithm>
#include <numeric>

#include "src/measure/statistics.h"

namespace rope_bench {
namespace {

constexpr double kClockBand = 0.02;
constexpr size_t kMostRetries = 32;
constexpr size_t kFewestRounds = 3;  // below them no interval means anything

using Clock = std::optional<int> DeviceState::*;
constexpr Clock kClocks[] = {&DeviceState::sm_clock_mhz, &DeviceState::memory_clock_mhz};

std::optional<double> median_clock(const std::vector<DeviceState>& rounds, Clock clock) {
  std::vector<double> values;
  for (const DeviceState& round : rounds) {
    if (round.*clock) values.push_back(*(round.*clock));
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

}  // namespace

void RoundGate::add(const DeviceState& state) { rounds_.push_back(state); }

GateVerdict RoundGate::verdict(bool time_is_up) const {
  GateVerdict verdict;
  uint64_t reasons = 0;
  int highest[2] = {0, 0};
  for (const DeviceState& round : rounds_) {
    for (int i : {0, 1}) highest[i] = std::max(highest[i], (round.*kClocks[i]).value_or(0));
  }
  for (size_t r = 0; r < rounds_.size(); ++r) {
    const DeviceState& round = rounds_[r];
    const bool throttled = (round.throttle.value_or(0) & kLoweringReasons) != 0;
    bool low = false;
    for (int i : {0, 1}) {
      const std::optional<int>& clock = round.*kClocks[i];
      low = low || (clock && *clock < (1 - kClockBand) * highest[i]);
    }
    if (throttled) {
      ++verdict.throttled;
      reasons |= *round.throttle;
    } else if (low) {
      ++verdict.off_clock;
    } else {
      verdict.kept.push_back(r);
    }
  }
  const size_t bad = rounds_.size() - verdict.kept.size();
  if (bad == 0) return verdict;
  const auto of_all = [&](int64_t count) {
    return std::to_string(count) + " of " + std::to_string(rounds_.size()) + " rounds";
  };
  if (verdict.throttled > 0) {
    verdict.reason =
        "throttled in " + of_all(verdict.throttled) + " (" + throttle_text(reasons) + ")";
  }
  if (verdict.off_clock > 0) {
    verdict.reason += (verdict.reason.empty() ? "" : ", ") + of_all(verdict.off_clock) +
                      " more than 2 % under the highest clock";
  }
  const bool too_many = bad >= kMostRetries && verdict.kept.size() < bad;
  if (too_many || (time_is_up && verdict.kept.size() < kFewestRounds)) {
    verdict.gave_up = true;
    verdict.kept.resize(rounds_.size());
    std::iota(verdict.kept.begin(), verdict.kept.end(), size_t{0});
  }
  return verdict;
}

std::optional<double> RoundGate::sm_clock_mhz() const {
  return median_clock(rounds_, &DeviceState::sm_clock_mhz);
}
std::optional<double> RoundGate::memory_clock_mhz() const {
  return median_clock(rounds_, &DeviceState::memory_clock_mhz);
}

}  // namespace rope_bench
