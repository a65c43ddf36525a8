// Every label that a row can carry: what it says and what to do about it. The one place for both:
// results, `-v` and docs/measuring.md have them from here.
#ifndef ROPE_BENCH_SRC_CASE_LABEL_ROWS_H_
#define ROPE_BENCH_SRC_CASE_LABEL_ROWS_H_

#include <span>
#include <string>

#include "src/case/result.h"

namespace rope_bench {

struct LabelRow {
  const char* name;
  const char* meaning;
  const char* advice;
};

std::span<const LabelRow> label_rows();

// "unstable: half of the interval ... ; run again ...": with the row's own reason where it has one.
std::string label_note(const Result& row, const std::string& label);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_LABEL_ROWS_H_
