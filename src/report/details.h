// What a row has beyond its columns: lists and sentences.
#ifndef ROPE_BENCH_SRC_REPORT_DETAILS_H_
#define ROPE_BENCH_SRC_REPORT_DETAILS_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "src/case/result.h"

namespace rope_bench {

// "held, 0.1 of 0.2 allowed", "not applicable: WHY".
std::string to_text(const Invariant& invariant);

// Members of a result row: ulp_histogram, worst_elements, invariants and rounds; null where there
// is no check or no time, or nobody asked. And their schema.
nlohmann::ordered_json details_json(const Result& row);
nlohmann::ordered_json details_schema();

// Lines, each ended: a table of the worst elements, with what they were computed from.
std::string worst_text(const std::vector<WorstElement>& elements);

// Lines, each indented and ended: what was compared with what, errors, the worst elements,
// invariants. Empty for a row without a check.
std::string details_text(const Result& row);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_DETAILS_H_
