#include "fmt/format.h"
#include "src/report/columns.h"
#include "src/report/csv_field.h"
#include "src/report/numbers.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

std::string cell_text(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<T, double>) {
          return shortest(value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return fmt::format("{}", fmt::join(value, " "));
        } else {
          return fmt::format("{}", value);
        }
      },
      cell);
}

template <class Text>
std::string line(Text text_of) {
  std::string out;
  for (const Column& column : columns()) {
    if (!out.empty()) out += ',';
    out += csv_field(text_of(column));
  }
  // RFC 4180 ends lines with CRLF.
  return out + "\r\n";
}

}  // namespace

std::string write_csv(const RunReport& report, const ReportContext&) {
  std::string out = line([](const Column& column) {
    const ColumnPath path = path_of(column);
    return path.group.empty() ? path.leaf : path.group + "_" + path.leaf;
  });
  for (const Result& row : report.results) {
    out += line([&](const Column& column) { return cell_text(column.get(row, report)); });
  }
  return out;
}

}  // namespace rope_bench
