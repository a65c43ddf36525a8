// What the GitHub action benchmark-action/github-action-benchmark reads with tool
// customBiggerIsBetter or customSmallerIsBetter: an array of {name, unit, value, range, extra}.
// Source: the action's README. A value is a number there: rows that have none are left out.
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/report/cells.h"
#include "src/report/numbers.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

struct Measured {
  std::optional<double> value, low, high;  // with its 95 % interval
};

std::string write(const RunReport& report, const char* unit, Measured (*measured)(const Timing&)) {
  Json entries = Json::array();
  for (const Result& row : report.results) {
    const bool right = row.status == Status::kPassed || row.status == Status::kUnchecked;
    if (!right || !row.timing) continue;
    const Measured m = measured(*row.timing);
    if (!m.value || !finite_number(*m.value)) continue;
    Json entry = {{"name", row_name(row)}, {"unit", unit}, {"value", *m.value}};
    if (m.low && m.high) {
      entry["range"] = fmt::format("{} to {}", significant4(*m.low), significant4(*m.high));
    }
    entry["extra"] = fmt::format("{} ({}) {} {}", report.device.device, report.device.model,
                                 name(row.status), fmt::join(row.labels, " "));
    entries.push_back(std::move(entry));
  }
  return dump(entries, 2) + "\n";
}

}  // namespace

std::string write_github_action_ratios(const RunReport& report, const ReportContext&) {
  return write(report, "limit_ratio", [](const Timing& t) {
    return Measured{t.limit_ratio, t.limit_ratio_ci_low, t.limit_ratio_ci_high};
  });
}

std::string write_github_action_times(const RunReport& report, const ReportContext&) {
  return write(report, "us", [](const Timing& t) {
    return Measured{t.median_us, t.ci_low_us, t.ci_high_us};
  });
}

}  // namespace rope_bench
