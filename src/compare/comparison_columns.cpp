#include "src/compare/comparison_columns.h"

namespace rope_bench {
namespace {

using Cell = VerdictCell;
using V = CaseVerdict;

Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(value); }

template <Field field>
Cell row(const V& v) {
  return text(v.row()[field]);
}

template <Field field>
Cell base_text(const V& v) {
  return v.base ? text((*v.base)[field]) : Cell();
}

template <Field field>
Cell new_text(const V& v) {
  return v.now ? text((*v.now)[field]) : Cell();
}

Cell number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

template <Field field>
Cell base_number(const V& v) {
  return v.base ? number(v.base->value(field)) : Cell();
}

template <Field field>
Cell new_number(const V& v) {
  return v.now ? number(v.now->value(field)) : Cell();
}

template <std::optional<Change> V::*change, double Change::*member>
Cell percent(const V& v) {
  return v.*change ? Cell(100 * (*(v.*change)).*member) : Cell();
}

// New columns go to the end.
const struct {
  VerdictColumn column;
  Cell (*get)(const V& v);
} kColumns[] = {
    {{"name", "case", 0}, row<Field::kName>},
    {{"op", nullptr, 0}, row<Field::kOp>},
    {{"variant", nullptr, 0}, row<Field::kVariant>},
    {{"device", nullptr, 0}, row<Field::kDevice>},
    {{"dtype", nullptr, 0}, row<Field::kDtype>},
    {{"cache", "cache", 0}, row<Field::kCache>},
    {{"verdict", "verdict", 0}, [](const V& v) { return Cell(name(v.verdict)); }},
    {{"judged_by", "by", 0}, [](const V& v) { return text(v.judged_by); }},
    {{"slowdown_percent", "slower %", 2}, percent<&V::change, &Change::slowdown>},
    {{"slowdown_ci_low_percent", "from", 2}, percent<&V::change, &Change::low>},
    {{"slowdown_ci_high_percent", "to", 2}, percent<&V::change, &Change::high>},
    {{"margin_percent", "margin %", 2},
     [](const V& v) { return v.change ? Cell(100 * v.margin) : Cell(); }},
    {{"base_limit_ratio", "base ratio", 3}, base_number<Field::kLimitRatio>},
    {{"new_limit_ratio", "new ratio", 3}, new_number<Field::kLimitRatio>},
    {{"base_time_us", "base us", 3}, base_number<Field::kTimeMedian>},
    {{"new_time_us", "new us", 3}, new_number<Field::kTimeMedian>},
    {{"time_slowdown_percent", nullptr, 2}, percent<&V::time, &Change::slowdown>},
    {{"time_slowdown_ci_low_percent", nullptr, 2}, percent<&V::time, &Change::low>},
    {{"time_slowdown_ci_high_percent", nullptr, 2}, percent<&V::time, &Change::high>},
    {{"speedup", "speed-up", 3}, [](const V& v) { return number(v.speedup); }},
    {{"base_status", nullptr, 0}, base_text<Field::kStatus>},
    {{"new_status", nullptr, 0}, new_text<Field::kStatus>},
    {{"reason", "reason", 0}, [](const V& v) { return text(v.reason); }},
};

}  // namespace

VerdictTable table_of(const Comparison& comparison) {
  VerdictTable table;
  for (const auto& column : kColumns) table.columns.push_back(column.column);
  for (const CaseVerdict& v : comparison.cases) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const auto& column : kColumns) cells.push_back(column.get(v));
  }
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    table.counts.emplace_back(name(verdict), comparison.count(verdict));
  }
  table.settings = {{"margin_percent", 100 * comparison.options.margin},
                    {"floor_us", comparison.options.floor_us}};
  table.notes = comparison.notes;
  table.summary = summary_line(comparison);
  table.code = exit_code_of(comparison);
  return table;
}

}  // namespace rope_bench
