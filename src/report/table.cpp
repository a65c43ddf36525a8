#include <algorithm>

#include "fmt/format.h"
#include "src/report/columns.h"
#include "src/report/text_table.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

std::string shown(const Cell& cell, const TerminalColumn& terminal) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "-";
        } else if constexpr (std::is_same_v<T, double>) {
          return terminal.format ? terminal.format(value) : fmt::format("{}", value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return fmt::format("{}", fmt::join(value, " "));
        } else {
          return fmt::format("{}", value);
        }
      },
      cell);
}

bool varies(const Column& column, const RunReport& report) {
  return std::any_of(report.results.begin(), report.results.end(), [&](const Result& row) {
    return column.get(row, report) != column.get(report.results.front(), report);
  });
}

std::vector<const Column*> shown_columns(const RunReport& report) {
  std::vector<const Column*> chosen;
  for (const Column& column : columns()) {
    const Show show = column.terminal.show;
    if (show == Show::kAlways || (show == Show::kIfVaries && varies(column, report))) {
      chosen.push_back(&column);
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Column* a, const Column* b) {
    return a->terminal.place < b->terminal.place;
  });
  return chosen;
}

Paint paint_of(const Column& column, const Result& row) {
  const std::string name = column.name;
  if (name == "labels") return Paint::kYellow;
  if (name != "status") return Paint::kNone;
  switch (row.status) {
    case Status::kPassed:
      return Paint::kGreen;
    case Status::kFailed:
    case Status::kError:
      return Paint::kRed;
    default:
      return Paint::kYellow;
  }
}

bool is_number(CellType type) { return type == CellType::kNumber || type == CellType::kInteger; }

}  // namespace

std::string write_table(const RunReport& report, const ReportContext& context) {
  if (report.results.empty()) return "";
  const std::vector<const Column*> chosen = shown_columns(report);
  std::vector<Align> alignment;
  std::vector<std::vector<TextCell>> rows(1);
  for (const Column* column : chosen) {
    alignment.push_back(is_number(column->type) ? Align::kRight : Align::kLeft);
    rows[0].push_back({column->terminal.heading});
  }
  for (const Result& row : report.results) {
    std::vector<TextCell>& cells = rows.emplace_back();
    for (const Column* column : chosen) {
      cells.push_back({shown(column->get(row, report), column->terminal), paint_of(*column, row)});
    }
  }
  return align_rows(rows, alignment, true, context.color);
}

}  // namespace rope_bench
