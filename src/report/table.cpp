#include "src/report/cells.h"
#include "src/report/text_table.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

std::vector<const Column*> shown_columns(const RunReport& report) {
  std::vector<const Column*> chosen = headed_columns();
  std::erase_if(chosen, [&](const Column* column) {
    return column->terminal.show == Show::kIfVaries && !varies(*column, report);
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
      cells.push_back({shown(*column, column->get(row, report)), paint_of(*column, row)});
    }
  }
  return align_rows(rows, alignment, true, context.color);
}

}  // namespace rope_bench
