#include "src/measure/gaps.h"

#include <algorithm>
#include <array>

namespace rope_bench {
namespace {

struct Axis {
  int64_t size, stride;
  int64_t grid_step;  // rows of the grid from one index to the next; 0: the same row
};

}  // namespace

int64_t count_changed_gaps(const OperandBuffer& buffer, const Grid& grid,
                           const std::vector<bool>& written, size_t element_bytes,
                           const std::byte* data, const Untouched& want) {
  const bool all_written = std::find(written.begin(), written.end(), false) == written.end();
  if (all_written && buffer.used == buffer.elements) return 0;

  int64_t changed = 0, end = 0;  // elements looked at
  const auto look = [&](int64_t until) {
    const int64_t size = static_cast<int64_t>(element_bytes);
    for (int64_t i = end * size; i < until * size; ++i) {
      const std::byte byte = want.pristine != nullptr ? want.pristine[i] : want.pattern;
      changed += data[i] != byte ? 1 : 0;
    }
  };
  // The outermost axis has the largest stride, so that rows come in the order of memory.
  std::array<Axis, 3> axes = {Axis{grid.batches, buffer.batch_stride, grid.tokens},
                              Axis{grid.tokens, buffer.token_stride, 1},
                              Axis{buffer.rows_per_token, buffer.row_stride, 0}};
  for (Axis& axis : axes) {
    if (axis.size <= 1) axis.stride = 0;
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  for (int64_t i = 0; i < axes[0].size; ++i) {
    for (int64_t j = 0; j < axes[1].size; ++j) {
      for (int64_t k = 0; k < axes[2].size; ++k) {
        const int64_t row = i * axes[0].grid_step + j * axes[1].grid_step + k * axes[2].grid_step;
        if (!written[static_cast<size_t>(row)]) continue;
        const int64_t start = i * axes[0].stride + j * axes[1].stride + k * axes[2].stride;
        look(start);
        end = start + buffer.row_width;
      }
    }
  }
  look(buffer.elements);
  return changed;
}

}  // namespace rope_bench
