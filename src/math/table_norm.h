// Whether the rows of a table are rotations.
#ifndef ROPE_BENCH_SRC_MATH_TABLE_NORM_H_
#define ROPE_BENCH_SRC_MATH_TABLE_NORM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/math/table.h"

namespace rope_bench {

// Empty, or which of the rows (negative ones are nobody's) has cosines and sines that are those of
// no angle: cos^2 + sin^2 is not the square of the attention factor, by more than eight roundings
// of the table.
std::string why_no_rotation(const CosSinTable& table, const std::vector<int64_t>& rows);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TABLE_NORM_H_
