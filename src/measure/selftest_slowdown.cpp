#include "src/measure/selftest_slowdown.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "src/measure/ab.h"
#include "src/measure/selftest_cases.h"
#include "src/measure/statistics.h"

namespace rope_bench {
namespace {

constexpr int kSlowEvery = 4;  // 25 %: the most that can be planted, far above a busy CPU's noise
constexpr double kLeastPercent = 15, kMostPercent = 35;
constexpr int64_t kRounds = 200, kMoreRounds = 1000;

// As a gate has it, but for the median: what else runs on the machine disturbs a few rounds.
std::optional<double> percent_slower(const AbMeasurement& m) {
  if (m.log_ratios.empty()) return std::nullopt;
  return 100 * std::expm1(median(m.log_ratios));
}

}  // namespace

SelftestRow find_planted_slowdown(Runner& runner) {
  const RopeCase c = selftest_cases::timed();
  SelftestRow row;
  row.fault = "slowdown: 25 %";
  row.text = "with every 4 launches one more is timed";
  row.device = "both";
  for (const int64_t rounds : {kRounds, kMoreRounds}) {
    std::optional<double> percent;
    RunOptions options;
    options.check = false;  // the right kernels are checked without it
    options.slow_every = kSlowEvery;
    options.against = AgainstVariant{c.variant, rounds,
                                     [&](const AbMeasurement& m) { percent = percent_slower(m); }};
    const Result result = runner.run({c}, options).at(0);
    if (!percent || result.status != Status::kUnchecked) {
      row.complaint = std::string("not measured, the row is ") + name(result.status) +
                      (result.reason.empty() ? "" : ": " + result.reason);
      continue;
    }
    char text[64];
    std::snprintf(text, sizeof(text), "seen as %.1f %% slower", *percent);
    row.by = text;
    row.caught = row.ok = kLeastPercent <= *percent && *percent <= kMostPercent;
    row.complaint = row.ok ? "" : "should be seen as 15 % to 35 % slower, is " + row.by;
    if (row.ok) break;
  }
  return row;
}

}  // namespace rope_bench
