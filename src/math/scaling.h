// Scaling methods: each one function and one registry row. A method shapes frequencies and a
// factor, nothing else.
#ifndef ROPE_BENCH_SRC_MATH_SCALING_H_
#define ROPE_BENCH_SRC_MATH_SCALING_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/scaling_spec.h"

namespace rope_bench {

// Other frequencies for the table rows from `first_row` on (up to the next segment): row t there is
// position t - first_row + first_position. For methods that put several tables into one.
struct FrequencySegment {
  int64_t first_row = 0;
  int64_t first_position = 0;
  std::vector<long double> exact;
  std::vector<float> float32;
  bool operator==(const FrequencySegment&) const = default;
};

// What a method found on its way: yarn's correction range, the dynamic base, the list chosen ...
struct ScalingDetail {
  std::string name;
  std::variant<double, std::string, std::vector<double>> value;
  bool operator==(const ScalingDetail&) const = default;
};

// What a method makes of its parameters. Both precisions of the same frequencies, [rotary_dim / 2]
// each.
struct Frequencies {
  std::vector<long double> exact;            // rad per position
  std::vector<float> float32;                // as transformers rounds them, step by step
  double attention_factor = 1.0;             // multiplies cos and sin
  std::vector<FrequencySegment> segments{};  // by first_row; empty for nearly all methods
  std::vector<ScalingDetail> details{};      // for `table`; no influence on any value
  // Whether they give the same tables: details do not count.
  bool operator==(const Frequencies& other) const {
    return exact == other.exact && float32 == other.float32 &&
           attention_factor == other.attention_factor && segments == other.segments;
  }
};

// Registry rows of all methods, in the order in which they are listed. A row with implemented =
// false is known to the config reader and refused by unsupported_scaling().
ScalingCatalog scaling_catalog();

// Empty, or why the scaling of this case cannot be run yet or ever.
std::string unsupported_scaling(const RopeCase& c);

// Empty, or why nothing at all is known of the scaling of this case. Methods that need an operand
// which no kernel reads (fope, dual_chunk) can be tabulated although they cannot be run.
std::string unknown_scaling(const RopeCase& c);

// Frequencies of a case whose scaling is supported. Throws ConfigError for parameters that make no
// sense together.
Frequencies frequencies_of(const RopeCase& c);

// One row of one table of a method, times the attention factor.
struct NamedRow {
  std::string name;  // "table" for all methods with a single one
  int64_t row = 0;   // which the position (on the first axis) leads to
  std::vector<double> cosines, sines;
};

// What all tables of the case's method hold for a token at these positions, one per axis (one
// without rope.axes): fope has a table per kv head, dual_chunk five. The direction counts. Throws
// ConfigError as frequencies_of().
std::vector<NamedRow> named_rows(const RopeCase& c, TableAngle angle,
                                 const std::vector<int64_t>& at);
// The same position on every axis.
std::vector<NamedRow> named_rows(const RopeCase& c, TableAngle angle, int64_t position);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_SCALING_H_
