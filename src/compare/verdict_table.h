// A table of verdicts and its formats: what `compare`, `gate` and `calibrate` print.
#ifndef ROPE_BENCH_SRC_COMPARE_VERDICT_TABLE_H_
#define ROPE_BENCH_SRC_COMPARE_VERDICT_TABLE_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/case/errors.h"

namespace rope_bench {

// monostate: absent.
using VerdictCell = std::variant<std::monostate, double, std::string>;

struct VerdictColumn {
  const char* name;     // in JSON and CSV; unit at its end
  const char* heading;  // in tables; null: not shown there
  int digits;           // after the point, in tables; 0: text
};

struct VerdictTable {
  std::vector<VerdictColumn> columns;
  std::vector<std::vector<VerdictCell>> rows;  // a cell per column
  std::string summary;                         // one line with its end
  ExitCode code = ExitCode::kGood;
  std::vector<std::pair<std::string, double>> settings;  // of JSON: margins ...
  std::vector<std::pair<std::string, size_t>> counts;    // of JSON, by verdict
  std::vector<std::string> notes;                        // of JSON
};

std::vector<std::string> verdict_formats();  // table, json, csv, markdown
// `format`: one of these. table and markdown end with the summary; `color` is for table.
std::string write_verdicts(const VerdictTable& table, const std::string& format, bool color);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_VERDICT_TABLE_H_
