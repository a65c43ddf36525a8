#include "src/gate/decide.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmt/format.h"
#include "src/compare/text.h"

namespace rope_bench {
namespace {

constexpr int kMostMeasurements = 3, kRedsOfARegression = 2;

bool has_rounds(const GateVerdict& v) { return v.test.has_value(); }

void judge(const GateCase& measured, const GateRules& rules, GateVerdict* v) {
  v->measured = measured;
  const double own = rules.own_margin ? rules.own_margin(measured) : 0;
  v->margin = own > 0 ? own : rules.margin;
  if (measured.base_us > 0)
    v->margin = effective_margin(v->margin, rules.floor_us, measured.base_us);
  v->test.reset();
  if (measured.log_ratios.size() >= 2) v->test = paired_test(measured.log_ratios, v->margin);
}

// Which of the chosen ones a p-value condemns, by Holm among them.
std::vector<size_t> rejected_of(const std::vector<GateVerdict>& all,
                                const std::vector<size_t>& chosen, double PairedTest::*p) {
  std::vector<double> p_values;
  std::vector<size_t> tested, rejected;
  for (const size_t i : chosen) {
    if (!has_rounds(all[i])) continue;
    tested.push_back(i);
    p_values.push_back((*all[i].test).*p);
  }
  const std::vector<bool> falls = holm(p_values, kAlpha);
  for (size_t i = 0; i < tested.size(); ++i) {
    if (falls[i]) rejected.push_back(tested[i]);
  }
  return rejected;
}

// The rounds exclude a slowdown of the margin; each of the measurements had its chance to.
bool passes(const GateVerdict& v) { return v.test->p_within <= kAlpha / kMostMeasurements; }

void settle(GateVerdict* v, bool slower, bool faster) {
  if (v->measured.wrong) {
    v->verdict = Verdict::kWrong;
  } else if (!has_rounds(*v)) {
    v->verdict = v->measured.no_tokens ? Verdict::kPass : Verdict::kInconclusive;
  } else if (slower) {
    v->verdict = Verdict::kRegression;
  } else if (faster) {
    v->verdict = Verdict::kImprovement;
  } else {
    v->verdict = passes(*v) ? Verdict::kPass : Verdict::kInconclusive;
  }
}

using Cell = VerdictCell;
Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(value); }
Cell positive(double value) { return value > 0 ? Cell(value) : Cell(); }
template <double Change::*member>
Cell percent(const GateVerdict& v) {
  return v.test ? Cell(100 * v.test->change.*member) : Cell();
}

// New columns go to the end.
const struct {
  VerdictColumn column;
  Cell (*get)(const GateVerdict& v);
} kColumns[] = {
    {{"name", "case", 0}, [](const GateVerdict& v) { return text(v.measured.name); }},
    {{"variant", nullptr, 0}, [](const GateVerdict& v) { return text(v.measured.variant); }},
    {{"dtype", nullptr, 0}, [](const GateVerdict& v) { return text(v.measured.dtype); }},
    {{"cache", "cache", 0}, [](const GateVerdict& v) { return text(v.measured.cache); }},
    {{"verdict", "verdict", 0}, [](const GateVerdict& v) { return Cell(name(v.verdict)); }},
    {{"slowdown_percent", "slower %", 2}, percent<&Change::slowdown>},
    {{"slowdown_ci_low_percent", "from", 2}, percent<&Change::low>},
    {{"slowdown_ci_high_percent", "to", 2}, percent<&Change::high>},
    {{"margin_percent", "margin %", 2}, [](const GateVerdict& v) { return Cell(100 * v.margin); }},
    {{"p_slower", "p slower", 4},
     [](const GateVerdict& v) { return v.test ? Cell(v.test->p_slower) : Cell(); }},
    {{"num_rounds", nullptr, 0},
     [](const GateVerdict& v) {
       return v.test ? Cell(static_cast<double>(v.test->rounds)) : Cell();
     }},
    {{"round_noise_percent", "noise %", 2},
     [](const GateVerdict& v) { return v.test ? Cell(100 * v.test->sd) : Cell(); }},
    {{"base_time_us", "base us", 3},
     [](const GateVerdict& v) { return positive(v.measured.base_us); }},
    {{"new_time_us", "new us", 3},
     [](const GateVerdict& v) { return positive(v.measured.new_us); }},
    {{"rerun", "rerun", 0}, [](const GateVerdict& v) { return v.rerun ? Cell("yes") : Cell(); }},
    {{"reason", "reason", 0}, [](const GateVerdict& v) { return text(v.measured.reason); }},
};

size_t count(const std::vector<GateVerdict>& verdicts, Verdict verdict) {
  return static_cast<size_t>(
      std::count_if(verdicts.begin(), verdicts.end(),
                    [&](const GateVerdict& v) { return v.verdict == verdict; }));
}

}  // namespace

std::vector<GateVerdict> decide(const std::vector<GateCase>& cases, const GateRules& rules,
                                const MeasureAgain& again) {
  std::vector<GateVerdict> all(cases.size());
  std::vector<size_t> everything(cases.size());
  std::iota(everything.begin(), everything.end(), size_t{0});
  for (const size_t i : everything) judge(cases[i], rules, &all[i]);

  std::vector<int> reds(cases.size());
  std::vector<size_t> measured = everything;
  for (int left = kMostMeasurements - 1;; --left) {
    // A family for each number of reds so far: undecided cases take no power from red ones.
    for (int before = kRedsOfARegression - 1; before >= 0; --before) {
      std::vector<size_t> family = measured;
      std::erase_if(family, [&](size_t i) { return reds[i] != before; });
      for (const size_t i : rejected_of(all, family, &PairedTest::p_slower)) ++reds[i];
    }
    std::erase_if(measured, [&](size_t i) {
      const GateVerdict& v = all[i];
      return !has_rounds(v) || v.measured.wrong || v.measured.error || passes(v) ||
             reds[i] == kRedsOfARegression || reds[i] + left < kRedsOfARegression;
    });
    if (measured.empty()) break;
    const std::vector<GateCase> rows = again(measured);
    for (size_t i = 0; i < measured.size(); ++i) {
      judge(rows[i], rules, &all[measured[i]]);
      all[measured[i]].rerun = true;
    }
  }

  std::vector<bool> faster(cases.size());
  for (const size_t i : rejected_of(all, everything, &PairedTest::p_faster)) faster[i] = true;
  for (const size_t i : everything) settle(&all[i], reds[i] == kRedsOfARegression, faster[i]);
  return all;
}

ExitCode exit_code_of(const std::vector<GateVerdict>& verdicts) {
  if (std::any_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.measured.error; }))
    return ExitCode::kInternal;
  if (count(verdicts, Verdict::kWrong) > 0) return ExitCode::kWrong;
  if (std::none_of(verdicts.begin(), verdicts.end(), has_rounds)) return ExitCode::kNothingRan;
  if (count(verdicts, Verdict::kRegression) > 0) return ExitCode::kSlower;
  return count(verdicts, Verdict::kInconclusive) > 0 ? ExitCode::kInconclusive : ExitCode::kGood;
}

VerdictTable table_of(const std::vector<GateVerdict>& verdicts, const GateRules& rules) {
  VerdictTable table;
  for (const auto& column : kColumns) table.columns.push_back(column.column);
  for (const GateVerdict& v : verdicts) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const auto& column : kColumns) cells.push_back(column.get(v));
  }
  std::string counts;
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const size_t number = count(verdicts, verdict);
    table.counts.emplace_back(name(verdict), number);
    if (number > 0)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", number, name(verdict));
  }
  const auto first = std::find_if(verdicts.begin(), verdicts.end(), [](const GateVerdict& v) {
    return v.verdict == Verdict::kWrong || v.verdict == Verdict::kRegression;
  });
  table.code = exit_code_of(verdicts);
  table.settings = {{"margin_percent", 100 * rules.margin}, {"floor_us", rules.floor_us}};
  table.summary = fmt::format(
      "gate: {}{}; margin {:.4g} %, floor {:.4g} us\n", counts.empty() ? "no rows" : counts,
      first == verdicts.end()
          ? ""
          : fmt::format("; {}: {}", name(first->verdict), one_line(first->measured.name)),
      100 * rules.margin, rules.floor_us);
  return table;
}

}  // namespace rope_bench
