// From rounds of all cases to verdicts.
#ifndef ROPE_BENCH_SRC_GATE_DECIDE_H_
#define ROPE_BENCH_SRC_GATE_DECIDE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/compare.h"
#include "src/compare/verdict_table.h"
#include "src/gate/paired.h"

namespace rope_bench {

// One case under test: what A/B rounds gave.
struct GateCase {
  std::string name, variant, dtype, cache;
  std::vector<double> log_ratios;  // ln(new / base), a round each
  double base_us = 0, new_us = 0;  // medians over rounds; 0: unknown
  bool wrong = false;              // the new one computed a wrong result
  bool no_tokens = false;          // nothing to time, nothing to be slow
  bool error = false;              // the device gave up
  std::string reason;              // why there are no rounds, or what is wrong
};

struct GateVerdict {
  GateCase measured;  // the last time
  Verdict verdict = Verdict::kInconclusive;
  double margin = 0;
  std::optional<PairedTest> test;
  bool rerun = false;  // measured again
};

struct GateRules {
  double margin = 0.02, floor_us = 0.3;
  // A share, of the cases that have margins of their own; 0: none of its own.
  std::function<double(const GateCase&)> own_margin;
};

// `again` measures the cases of these indices once more, with twice the rounds.
using MeasureAgain = std::function<std::vector<GateCase>(const std::vector<size_t>& indices)>;

// A case is red where Holm at kAlpha calls it slower than its margin, over the cases measured with
// it that were red as often before. Two reds of at most three measurements are a regression; a case
// is measured again until its rounds exclude a slowdown of the margin or two reds cannot come any
// more. So a red comes twice, and one disturbed round does not leave a case undecided. A family of
// unchanged cases is called slower with a chance of at most 3 kAlpha^2, and a case that is slower
// by the margin passes with one of at most kAlpha. The last measurement decides the rest: a pass,
// faster by more than the margin (Holm over all) an improvement, else inconclusive. Measurements
// are never pooled: that there is another one depended on those before.
std::vector<GateVerdict> decide(const std::vector<GateCase>& cases, const GateRules& rules,
                                const MeasureAgain& again);

// 6 an error, 1 wrong, 3 regression, 4 inconclusive, 5 no case has rounds, 0.
ExitCode exit_code_of(const std::vector<GateVerdict>& verdicts);
VerdictTable table_of(const std::vector<GateVerdict>& verdicts, const GateRules& rules);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_GATE_DECIDE_H_
