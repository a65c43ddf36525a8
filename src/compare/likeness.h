// Which rows are the same case, and whether two files may be compared at all.
#ifndef ROPE_BENCH_SRC_COMPARE_LIKENESS_H_
#define ROPE_BENCH_SRC_COMPARE_LIKENESS_H_

#include <string>
#include <utility>
#include <vector>

#include "src/compare/results_file.h"

namespace rope_bench {

// Name, op, variant, cache, shape, dtype and kind of device: "cuda:1" is the same as "cuda:0".
std::string identity_of(const ResultRow& row);
// The same without dtype and device.
std::string identity_anywhere(const ResultRow& row);

// Both in one kind of device of one model, and of one dtype: only then is a quotient of their times
// a speed-up.
bool same_device_and_dtype(const ResultRow& base, const ResultRow& now);

// Measured with --inject-slowdown: such rows may be judged, and are no baseline.
bool is_slowed(const ResultRow& row);

struct RowPair {
  const ResultRow* base = nullptr;  // null: new
  const ResultRow* now = nullptr;   // null: missing
};
// In the order of `now`, then what it lacks. `anywhere`: rows without a partner are matched without
// regard of dtype and device, where that leaves no choice.
std::vector<RowPair> match_rows(const ResultsFile& base, const ResultsFile& now, bool anywhere);

// What forbids to compare them, a line each; empty: nothing. Schema versions, a BASE that is
// slowed, single values of the configs, and the fields of FieldRole::kAlike of each pair; what
// differs likewise in many cases is said once.
std::vector<std::string> differences(const ResultsFile& base, const ResultsFile& now,
                                     const std::vector<RowPair>& pairs);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_LIKENESS_H_
