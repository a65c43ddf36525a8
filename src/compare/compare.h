// Two results files -> a verdict per case and an exit code.
#ifndef ROPE_BENCH_SRC_COMPARE_COMPARE_H_
#define ROPE_BENCH_SRC_COMPARE_COMPARE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/case/errors.h"
#include "src/compare/change.h"
#include "src/compare/margins_file.h"
#include "src/compare/results_file.h"

namespace rope_bench {

enum class Verdict {
  kPass,          // not slower by more than the margin
  kRegression,    // slower by more than the margin
  kImprovement,   // faster by more than the margin
  kInconclusive,  // the files cannot tell
  kMissing,       // was measured in BASE, was not in NEW
  kNew,           // was measured in NEW only
  kWrong,         // the result in NEW is wrong, whatever its speed
};
inline constexpr int kNumVerdicts = 7;

const char* name(Verdict verdict);

struct CompareOptions {
  double margin = 0.02;   // a share of the base
  double floor_us = 0.3;  // a smaller change of time is none
  bool force = false;     // compare unlike files
  Margins margins;        // of cases that have their own, instead of `margin`
};

struct CaseVerdict {
  const ResultRow* base = nullptr;  // null: new
  const ResultRow* now = nullptr;   // null: missing
  Verdict verdict = Verdict::kPass;
  const char* judged_by = "";     // "limit_ratio", "time" or ""
  std::string reason;             // where the numbers alone do not tell
  double margin = 0;              // a share, after the floor
  std::optional<Change> change;   // what was judged
  std::optional<Change> time;     // of time_median_us
  std::optional<double> speedup;  // base time over new time
  const ResultRow& row() const { return now ? *now : *base; }
};

struct Comparison {
  std::vector<CaseVerdict> cases;
  std::vector<std::string> notes;  // differences that were overruled, what was judged how
  CompareOptions options;
  size_t count(Verdict verdict) const;
};

// Throws ConfigError for files that are unlike, unless forced. The comparison points into both.
Comparison compare(const ResultsFile& base, const ResultsFile& now, const CompareOptions& options);

// 6 a case of NEW ended in an error, 1 wrong, 3 regression, 4 inconclusive or missing, 5 no common
// case, 0; the first of these that applies.
ExitCode exit_code_of(const Comparison& comparison);

// "compare: 3 pass, 1 regression; margin 2 %, floor 0.3 us": one line, always begins so.
std::string summary_line(const Comparison& comparison);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_COMPARE_H_
