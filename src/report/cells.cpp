#include "src/report/cells.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "src/report/numbers.h"

namespace rope_bench {

std::vector<const Column*> headed_columns() {
  std::vector<const Column*> chosen;
  for (const Column& column : columns()) {
    if (column.terminal.show != Show::kNever) chosen.push_back(&column);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Column* a, const Column* b) {
    return a->terminal.place < b->terminal.place;
  });
  return chosen;
}

bool varies(const Column& column, const RunReport& report) {
  return std::any_of(report.results.begin(), report.results.end(), [&](const Result& row) {
    return column.get(row, report) != column.get(report.results.front(), report);
  });
}

std::string shown(const Column& column, const Cell& cell) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "-";
        } else if constexpr (std::is_same_v<T, double>) {
          return column.terminal.format ? column.terminal.format(value) : fmt::format("{}", value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return fmt::format("{}", fmt::join(value, " "));
        } else {
          return fmt::format("{}", value);
        }
      },
      cell);
}

std::string plain_text(const Cell& cell) {
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

bool is_number(CellType type) { return type == CellType::kNumber || type == CellType::kInteger; }

std::optional<double> finite_number(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> std::optional<double> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
          const auto number = static_cast<double>(value);
          if (std::isfinite(number)) return number;
        }
        return std::nullopt;
      },
      cell);
}

std::string row_name(const Result& row) {
  return row.rope_case.name + (row.cache == CacheMode::kWarm ? "/warm" : "");
}

}  // namespace rope_bench
