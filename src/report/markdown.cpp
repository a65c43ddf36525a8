#include <algorithm>
#include <iterator>

#include "fmt/format.h"
#include "src/report/cells.h"
#include "src/report/escape.h"
#include "src/report/summary.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

bool is_name(const Column& column) { return std::string(column.name) == "name"; }

// What is the same everywhere is said once, above the table. The numbers of a single row stay.
bool is_hidden(const Column& column, const RunReport& report) {
  if (is_name(column) || varies(column, report)) return false;
  const Cell cell = column.get(report.results.front(), report);
  return report.results.size() > 1 || !is_number(column.type) ||
         std::holds_alternative<std::monostate>(cell);
}

std::string table_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string constants(const std::vector<const Column*>& hidden, const RunReport& report) {
  std::vector<std::string> words;
  for (const Column* column : hidden) {
    const std::string value = shown(*column, column->get(report.results.front(), report));
    if (value.empty() || value == "-") continue;
    words.push_back(fmt::format("{} {}", column->terminal.heading, markdown_escaped(value)));
  }
  return words.empty() ? "" : fmt::format("All rows: {}.\n\n", fmt::join(words, ", "));
}

std::string table(const std::vector<const Column*>& columns, const RunReport& report) {
  std::vector<std::string> headings, rules;
  for (const Column* column : columns) {
    headings.emplace_back(column->terminal.heading);
    rules.emplace_back(is_number(column->type) ? "---:" : "---");
  }
  std::string text = table_line(headings) + table_line(rules);
  for (const Result& row : report.results) {
    std::vector<std::string> cells;
    for (const Column* column : columns) {
      cells.push_back(markdown_escaped(shown(*column, column->get(row, report))));
    }
    text += table_line(cells);
  }
  return text + "\n";
}

// Reasons of rows that did not pass: a paragraph with the lines of the hints.
std::string reasons(const RunReport& report) {
  std::string lines = hints(report);
  if (lines.empty()) return "";
  lines.pop_back();  // its line end
  return markdown_escaped(lines) + "\n\n";
}

}  // namespace

std::string write_markdown(const RunReport& report, const ReportContext& context) {
  std::string text;
  if (!report.results.empty()) {
    std::vector<const Column*> visible = headed_columns(), hidden;
    std::copy_if(visible.begin(), visible.end(), std::back_inserter(hidden),
                 [&](const Column* column) { return is_hidden(*column, report); });
    std::erase_if(visible, [&](const Column* column) { return is_hidden(*column, report); });
    text = constants(hidden, report) + table(visible, report) + reasons(report);
  }
  return text + markdown_escaped(verdict(report)) + "  \n" +
         markdown_escaped(fmt::format("{} {}, {}", context.tool.name, context.tool.version,
                                      context.started_utc)) +
         "\n";
}

}  // namespace rope_bench
