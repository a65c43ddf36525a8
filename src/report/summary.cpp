#include "src/report/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/report/numbers.h"

namespace rope_bench {
namespace {

constexpr size_t kMaxHints = 5;

size_t count_of(const RunReport& report, Status status) {
  return static_cast<size_t>(
      std::count_if(report.results.begin(), report.results.end(),
                    [&](const Result& row) { return row.status == status; }));
}

bool ran(Status status) {
  return status == Status::kPassed || status == Status::kFailed || status == Status::kUnchecked;
}

// ", worst error 99.6 % of its bound (NAME; exact angles)": of the row that comes nearest to its
// bound, or exceeds it most. Not in ULP: a passed row may well round to "1.00 of 1.00".
std::string worst_error(const RunReport& report) {
  const Result* worst = nullptr;
  for (const Result& row : report.results) {
    if (!row.accuracy) continue;
    // Not a < b: NaN counts as worst.
    if (!worst || !(row.accuracy->max_bound_ratio <= worst->accuracy->max_bound_ratio)) {
      worst = &row;
    }
  }
  if (!worst) return "";
  const double percent = 100 * worst->accuracy->max_bound_ratio;
  const std::string size = !std::isfinite(percent) ? "beyond any multiple"
                           : percent < 1e5         ? decimals<1>(percent) + " %"
                                                   : fmt::format("{:.3g} %", percent);
  return fmt::format(", worst error {} of its bound ({}; {} angles)", size, worst->rope_case.name,
                     name(worst->accuracy->reference_angle));
}

std::string limit_ratios(const RunReport& report) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Result& row : report.results) {
    if (!row.timing || !row.timing->limit_ratio) continue;
    low = std::min(low, *row.timing->limit_ratio);
    high = std::max(high, *row.timing->limit_ratio);
  }
  if (low > high) return "";
  const std::string from = decimals<2>(low), to = decimals<2>(high);
  return ", limit_ratio " + (from == to ? from : from + "-" + to);
}

// " (cuda:0, NVIDIA H200; peak 4278 GB/s, floor 0.50 us)": what the ratios and percentages refer
// to.
std::string device_of(const DeviceInfo& device) {
  if (device.device.empty()) return "";
  std::string text = " (" + device.device;
  if (!device.model.empty()) text += ", " + device.model;
  if (device.measured_peak_gb_s && device.floor_us) {
    text += fmt::format("; peak {:.0f} GB/s, floor {:.2f} us", *device.measured_peak_gb_s,
                        *device.floor_us);
  }
  return text + ")";
}

// "4 cases", "78 rows" where cases have several, "1 of 39 cases" after an interruption.
std::string how_many(const RunReport& report) {
  std::set<std::string> cases;
  for (const Result& row : report.results) cases.insert(row.rope_case.name);
  const size_t rows = report.results.size();
  if (!report.interrupted || report.num_rows < rows) {
    return counted(rows, cases.size() == rows ? "case" : "row");
  }
  return fmt::format(
      "{} of {}", rows,
      counted(report.num_rows, report.num_cases == report.num_rows ? "case" : "row"));
}

std::string failure(const Result& row) {
  std::string line = "failed: " + row.rope_case.name + ": " + failure_text(row);
  if (!row.diagnosis.name.empty())
    line += fmt::format("\n  {}: {}", row.diagnosis.name, row.diagnosis.text);
  return line + "\n";
}

// "and 7 more" once `shown` lines are out.
std::string more(size_t total, size_t shown) {
  return total > shown ? fmt::format("... and {} more\n", total - shown) : "";
}

}  // namespace

std::string failure_text(const Result& row) {
  std::vector<std::string> parts;
  if (row.accuracy && row.accuracy->worst) parts.push_back(to_text(*row.accuracy->worst));
  if (row.accuracy) {
    const Accuracy& a = *row.accuracy;
    parts.push_back(fmt::format("{} ULP of {} allowed, {} over their bound",
                                significant4(a.max_ulp), significant4(a.tolerance_ulp),
                                counted(static_cast<size_t>(a.num_over), "element")));
    if (a.table_max_abs > a.table_tolerance) {
      parts.push_back(fmt::format("the table is off by {:.3g}, {:.3g} allowed", a.table_max_abs,
                                  a.table_tolerance));
    }
  }
  if (!row.reason.empty()) parts.push_back(row.reason);
  return fmt::format("{}", fmt::join(parts, "; "));
}

ExitCode exit_code_of(const RunReport& report) {
  if (report.interrupted) return ExitCode::kInterrupted;
  if (count_of(report, Status::kError) > 0) return ExitCode::kInternal;
  if (count_of(report, Status::kFailed) > 0) return ExitCode::kWrong;
  const bool any = std::any_of(report.results.begin(), report.results.end(),
                               [](const Result& row) { return ran(row.status); });
  return any ? ExitCode::kGood : ExitCode::kNothingRan;
}

std::string verdict(const RunReport& report) {
  std::string line = report.interrupted ? "interrupted: " : "";
  line += how_many(report) + ":";
  const char* separator = " ";
  for (int i = 0; i <= static_cast<int>(Status::kError); ++i) {
    const Status status = static_cast<Status>(i);
    if (const size_t count = count_of(report, status)) {
      line += fmt::format("{}{} {}", separator, count, name(status));
      separator = ", ";
    }
  }
  if (report.results.empty()) line += " nothing ran";
  line += worst_error(report);
  line += limit_ratios(report);
  line += device_of(report.device);
  return line;
}

std::string hints(const RunReport& report) {
  std::string lines;
  size_t failed = 0;
  // Reasons shared by many rows are told once.
  std::vector<std::pair<std::string, size_t>> reasons;
  for (const Result& row : report.results) {
    if (row.status == Status::kFailed) {
      if (failed++ < kMaxHints) lines += failure(row);
      continue;
    }
    if (row.reason.empty()) continue;
    const std::string text = fmt::format("{}: {}", name(row.status), row.reason);
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == text; });
    if (known == reasons.end()) {
      reasons.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  lines += more(failed, kMaxHints);
  for (size_t i = 0; i < std::min(reasons.size(), kMaxHints); ++i) {
    const auto& [text, count] = reasons[i];
    lines += text + (count > 1 ? fmt::format(" ({} rows)", count) : "") + "\n";
  }
  return lines + more(reasons.size(), kMaxHints);
}

}  // namespace rope_bench
