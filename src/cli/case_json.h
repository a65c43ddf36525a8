// A resolved case as `describe` and --dry-run show it.
#ifndef ROPE_BENCH_SRC_CLI_CASE_JSON_H_
#define ROPE_BENCH_SRC_CLI_CASE_JSON_H_

#include <optional>

#include "nlohmann/json_fwd.hpp"
#include "src/case/rope_case.h"

namespace rope_bench {

// A whole number as an integer: 8192, not 8192.0.
nlohmann::ordered_json number_json(double value);

nlohmann::ordered_json scaling_json(const Scaling& scaling);

// Shapes, rope parameters and bytes. A case that is skipped has its reason instead of bytes.
// `peak_gb_s` turns bytes into a speed-of-light time; null without it.
nlohmann::ordered_json case_json(const RopeCase& c, std::optional<double> peak_gb_s);

// total bytes over the peak, in microseconds.
double speed_of_light_us(const ByteCount& bytes, double peak_gb_s);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_CASE_JSON_H_
