#include "src/compare/compare.h"

#include <algorithm>

#include "fmt/format.h"
#include "src/case/rounds.h"
#include "src/compare/likeness.h"
#include "src/compare/text.h"

namespace rope_bench {
namespace {

// Without an interval, the value alone.
std::optional<Estimate> estimate(const ResultRow& row, Field value, Field low, Field high) {
  if (!row.value(value)) return std::nullopt;
  const double v = *row.value(value);
  return Estimate{v, std::min(v, row.value(low).value_or(v)),
                  std::max(v, row.value(high).value_or(v))};
}

// Why the interval of what is judged bounds nothing; empty: it does.
std::string why_no_interval(const ResultRow& row, bool by_ratio, const char* file) {
  const Field low = by_ratio ? Field::kLimitRatioCiLow : Field::kTimeCiLow,
              high = by_ratio ? Field::kLimitRatioCiHigh : Field::kTimeCiHigh;
  if (!row.value(low) || !row.value(high)) return fmt::format("no interval in {}", file);
  const std::optional<double> rounds = row.value(Field::kNumRounds);
  if (!rounds || *rounds >= kRoundsOfAnInterval) return "";
  return fmt::format("{} rounds in {}: an interval needs {}", *rounds, file, kRoundsOfAnInterval);
}

std::optional<Estimate> time_of(const ResultRow& row) {
  return estimate(row, Field::kTimeMedian, Field::kTimeCiLow, Field::kTimeCiHigh);
}

std::optional<Estimate> ratio_of(const ResultRow& row) {
  return estimate(row, Field::kLimitRatio, Field::kLimitRatioCiLow, Field::kLimitRatioCiHigh);
}

// "passed" and "unchecked" ran; so did "failed", which is no time to compare with.
bool ran(const ResultRow& row) {
  return row[Field::kStatus] == "passed" || row[Field::kStatus] == "unchecked";
}

std::string why_not_run(const ResultRow& row) {
  const std::string& reason = row[Field::kReason];
  return row[Field::kStatus] + (reason.empty() ? "" : ": " + reason);
}

void judge_times(CaseVerdict* v) {
  const std::optional<Estimate> base_time = time_of(*v->base), new_time = time_of(*v->now);
  if (!base_time || !new_time) {
    // Without tokens there is nothing to time.
    if ((*v->now)[Field::kNumTokens] == "0") return;
    v->verdict = Verdict::kInconclusive;
    v->reason = fmt::format("no time in {}", !base_time ? "BASE" : "NEW");
    return;
  }
  v->time = change_of_time(*base_time, *new_time);
  if (!same_device_and_dtype(*v->base, *v->now)) {
    v->verdict = Verdict::kInconclusive;
    v->reason = fmt::format("{} on {} in BASE, {} on {} in NEW", (*v->base)[Field::kDtype],
                            (*v->base)[Field::kDeviceModel], (*v->now)[Field::kDtype],
                            (*v->now)[Field::kDeviceModel]);
    return;
  }
  v->speedup = base_time->value / new_time->value;
  const std::optional<Estimate> base_ratio = ratio_of(*v->base), new_ratio = ratio_of(*v->now);
  const bool one_family =
      (*v->base)[Field::kLimitFamilyVersion] == (*v->now)[Field::kLimitFamilyVersion];
  const bool by_ratio = one_family && base_ratio && new_ratio;
  v->judged_by = by_ratio ? "limit_ratio" : "time";
  v->change = by_ratio ? change_of_ratio(*base_ratio, *new_ratio) : v->time;
  std::string reason = why_no_interval(*v->base, by_ratio, "BASE");
  if (reason.empty()) reason = why_no_interval(*v->now, by_ratio, "NEW");
  if (!reason.empty()) {
    v->verdict = Verdict::kInconclusive;
    v->reason = reason;
    return;
  }
  switch (judge_change(*v->change, v->margin)) {
    case Beyond::kSlower:
      v->verdict = Verdict::kRegression;
      break;
    case Beyond::kFaster:
      v->verdict = Verdict::kImprovement;
      break;
    case Beyond::kInside:
      v->verdict = Verdict::kPass;
      break;
    case Beyond::kUnclear:
      v->verdict = Verdict::kInconclusive;
      v->reason = "the interval holds the margin";
      break;
  }
}

double own_margin(const ResultRow& row, const CompareOptions& options) {
  const CaseMargin* own = options.margins.find(row[Field::kName], row[Field::kVariant],
                                               row[Field::kDtype], row[Field::kCache]);
  return own && own->compare > 0 ? own->compare : options.margin;
}

CaseVerdict judge_pair(const RowPair& pair, const CompareOptions& options) {
  CaseVerdict v;
  v.base = pair.base;
  v.now = pair.now;
  v.margin = options.margin;
  if (pair.now && (*pair.now)[Field::kStatus] == "failed") {
    v.verdict = Verdict::kWrong;
    v.reason = (*pair.now)[Field::kReason];
  } else if (!pair.now) {
    v.verdict = Verdict::kMissing;
    v.reason = "no such row in NEW";
  } else if (!pair.base) {
    v.verdict = Verdict::kNew;
    if (!ran(*pair.now)) v.reason = why_not_run(*pair.now);
  } else if (!ran(*pair.now)) {
    // What BASE could not run either is no loss.
    v.verdict = ran(*pair.base) ? Verdict::kMissing : Verdict::kPass;
    v.reason = why_not_run(*pair.now);
  } else if (!ran(*pair.base)) {
    v.verdict = Verdict::kNew;
    v.reason = "BASE: " + why_not_run(*pair.base);
  } else {
    if (const std::optional<Estimate> time = time_of(*pair.base))
      v.margin = effective_margin(own_margin(*pair.base, options), options.floor_us, time->value);
    judge_times(&v);
  }
  return v;
}

void note_families(Comparison* c) {
  const auto by_time = std::find_if(c->cases.begin(), c->cases.end(), [](const CaseVerdict& v) {
    return v.change &&
           (*v.base)[Field::kLimitFamilyVersion] != (*v.now)[Field::kLimitFamilyVersion];
  });
  if (by_time == c->cases.end()) return;
  c->notes.push_back(fmt::format(
      "limit_family_version: {} in BASE, {} in NEW: limit_ratio is not comparable, time is judged",
      shown((*by_time->base)[Field::kLimitFamilyVersion]),
      shown((*by_time->now)[Field::kLimitFamilyVersion])));
}

}  // namespace

const char* name(Verdict verdict) {
  static constexpr const char* kNames[] = {"pass",    "regression", "improvement", "inconclusive",
                                           "missing", "new",        "wrong"};
  return kNames[static_cast<int>(verdict)];
}

size_t Comparison::count(Verdict verdict) const {
  return static_cast<size_t>(std::count_if(
      cases.begin(), cases.end(), [&](const CaseVerdict& v) { return v.verdict == verdict; }));
}

Comparison compare(const ResultsFile& base, const ResultsFile& now, const CompareOptions& options) {
  Comparison result;
  result.options = options;
  const std::vector<RowPair> pairs = match_rows(base, now, options.force);
  result.notes = differences(base, now, pairs);
  if (!result.notes.empty() && !options.force) {
    const size_t more = result.notes.size() - 1;
    throw ConfigError(fmt::format("{} and {} are unlike: {}{}; --force compares them anyway",
                                  base.path, now.path, result.notes.front(),
                                  more > 0 ? fmt::format(" (and {} more)", more) : ""));
  }
  for (const RowPair& pair : pairs) result.cases.push_back(judge_pair(pair, options));
  note_families(&result);
  return result;
}

ExitCode exit_code_of(const Comparison& c) {
  const bool any_error = std::any_of(c.cases.begin(), c.cases.end(), [](const CaseVerdict& v) {
    return v.now && (*v.now)[Field::kStatus] == "error";
  });
  if (any_error) return ExitCode::kInternal;
  if (c.count(Verdict::kWrong) > 0) return ExitCode::kWrong;
  const bool any_common = std::any_of(c.cases.begin(), c.cases.end(),
                                      [](const CaseVerdict& v) { return v.base && v.now; });
  if (!any_common) return ExitCode::kNothingRan;
  if (c.count(Verdict::kRegression) > 0) return ExitCode::kSlower;
  if (c.count(Verdict::kInconclusive) + c.count(Verdict::kMissing) > 0)
    return ExitCode::kInconclusive;
  return ExitCode::kGood;
}

std::string summary_line(const Comparison& c) {
  std::string counts;
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const size_t count = c.count(verdict);
    if (count > 0)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name(verdict));
  }
  const auto first = std::find_if(c.cases.begin(), c.cases.end(), [](const CaseVerdict& v) {
    return v.verdict == Verdict::kWrong || v.verdict == Verdict::kRegression;
  });
  return fmt::format(
      "compare: {}{}; margin {:.4g} %, floor {:.4g} us\n", counts.empty() ? "no rows" : counts,
      first == c.cases.end()
          ? ""
          : fmt::format("; {}: {}", name(first->verdict), one_line(first->row()[Field::kName])),
      100 * c.options.margin, c.options.floor_us);
}

}  // namespace rope_bench
