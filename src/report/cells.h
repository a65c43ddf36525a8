// Cells of the column table as the formats for people show them.
#ifndef ROPE_BENCH_SRC_REPORT_CELLS_H_
#define ROPE_BENCH_SRC_REPORT_CELLS_H_

#include <optional>
#include <string>
#include <vector>

#include "src/report/columns.h"

namespace rope_bench {

// Columns that have a heading, in the order in which they are shown.
std::vector<const Column*> headed_columns();

// Whether rows differ in it.
bool varies(const Column& column, const RunReport& report);

// With the column's own format; "-" for an absent cell.
std::string shown(const Column& column, const Cell& cell);

// With every digit; empty for an absent cell.
std::string plain_text(const Cell& cell);

bool is_number(CellType type);

// The value of a number that JSON has a spelling for; absent for all other cells.
std::optional<double> finite_number(const Cell& cell);

// What tells a row from all others of a run: the name of its case, with "/warm" behind it where
// caches were warm.
std::string row_name(const Result& row);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_CELLS_H_
