// A comparison as a table: the columns that every format prints.
#ifndef ROPE_BENCH_SRC_COMPARE_COMPARISON_COLUMNS_H_
#define ROPE_BENCH_SRC_COMPARE_COMPARISON_COLUMNS_H_

#include "src/compare/compare.h"
#include "src/compare/verdict_table.h"

namespace rope_bench {

VerdictTable table_of(const Comparison& comparison);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_COMPARISON_COLUMNS_H_
