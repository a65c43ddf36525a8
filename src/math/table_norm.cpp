#include "src/math/table_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "src/math/convert.h"

namespace rope_bench {

std::string why_no_rotation(const CosSinTable& table, const std::vector<int64_t>& rows) {
  const int64_t half = table.rotary_dim / 2;
  const double af2 = table.frequencies.attention_factor * table.frequencies.attention_factor;
  const double allowed = af2 * 4 * pow2(-info(table.dtype).mantissa_bits);
  for (const int64_t row : rows) {
    if (row < 0) continue;
    const float* cosines = &table.values[static_cast<size_t>(row * table.rotary_dim)];
    for (int64_t i = 0; i < half; ++i) {
      const double c = cosines[i], s = cosines[half + i], square = c * c + s * s;
      if (std::abs(square - af2) <= allowed) continue;
      return fmt::format(
          "row {} of the table is no rotation: cos^2 + sin^2 of pair {} is {:.6g}, "
          "attention_factor^2 {:.6g}",
          row, i, square, af2);
    }
  }
  return {};
}

}  // namespace rope_bench
