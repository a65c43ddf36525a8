// The bytes of an operand's buffer that belong to no row: gaps between rows, rows of padding.
#ifndef ROPE_BENCH_SRC_MEASURE_GAPS_H_
#define ROPE_BENCH_SRC_MEASURE_GAPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/case/operands.h"

namespace rope_bench {

// What these bytes must hold: what `pristine` holds at the same place, or where that is null the
// repeated byte.
struct Untouched {
  const std::byte* pristine = nullptr;
  std::byte pattern{};
};

// `written[r]`: row r of the grid is written. Counts the bytes of gaps that changed.
int64_t count_changed_gaps(const OperandBuffer& buffer, const Grid& grid,
                           const std::vector<bool>& written, size_t element_bytes,
                           const std::byte* data, const Untouched& want);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_GAPS_H_
