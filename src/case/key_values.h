// What a JSON value means as an integer, a seed or a number.
#ifndef ROPE_BENCH_SRC_CASE_KEY_VALUES_H_
#define ROPE_BENCH_SRC_CASE_KEY_VALUES_H_

#include <cstdint>
#include <optional>

#include "src/case/json_node.h"

namespace rope_bench {

// A number without a fraction; one written as 4096.0 or 1e6 counts up to 2^53.
std::optional<int64_t> integer_value(const Node& node);
std::optional<uint64_t> seed_value(const Node& node);
std::optional<double> number_value(const Node& node);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_KEY_VALUES_H_
