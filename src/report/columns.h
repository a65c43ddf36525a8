// The column table: every fact of a result row that a format can print, once. All formats, the JSON
// Schema and the expected-file tests derive from it.
#ifndef ROPE_BENCH_SRC_REPORT_COLUMNS_H_
#define ROPE_BENCH_SRC_REPORT_COLUMNS_H_

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "src/case/result.h"

namespace rope_bench {

// monostate: absent (JSON null, an empty CSV field, "-" in the terminal).
using Cell = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
                          std::vector<std::string>>;

enum class CellType { kBool, kInteger, kNumber, kText, kTexts };

enum class Show { kNever, kAlways, kIfVaries };

// How the terminal table shows a column.
struct TerminalColumn {
  Show show = Show::kNever;
  int place = 0;  // columns are shown in rising order
  const char* heading = "";
  std::string (*format)(double value) = nullptr;  // of numbers
};

struct Column {
  // Unit at the end of the name. "worst.dim" is member `dim` of the object `worst` in JSON and the
  // field `worst_dim` in CSV.
  const char* name;
  CellType type;
  bool nullable;
  Cell (*get)(const Result& result, const RunReport& report);
  const char* summary;
  std::vector<std::string> (*choices)() = nullptr;  // every value of a text column; null: any
  TerminalColumn terminal = {};
  bool optional_member = false;  // of a group: may be null where the group is there
};

// In the order in which formats print them. New columns go to the end: readers count on it.
std::span<const Column> columns();

// "worst" and "dim" for "worst.dim"; an empty group for a plain name.
struct ColumnPath {
  std::string group, leaf;
};
ColumnPath path_of(const Column& column);

// "worst_dim" for "worst.dim".
std::string csv_name(const Column& column);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_COLUMNS_H_
