#include "src/case/operands.h"

namespace rope_bench {
namespace {

int64_t all_heads(const Operands& operands) {
  int64_t heads = 0;
  for (const int64_t count : operands.heads) heads = saturating_add(heads, count);
  return heads;
}

// Every head of a token in one row, tokens `layout.q.token_stride` apart.
Side packed_side(const RopeCase& c, const Operands& operands) {
  Side side;
  side.grid = {1, c.num_tokens()};
  const int64_t width = saturating_mul(all_heads(operands), c.head_dim);
  const bool one_token = side.grid.tokens <= 1;
  const int64_t stride = one_token ? width : c.layout.q.token_stride.value_or(width);
  OperandBuffer buffer{"qkv"};
  if (side.grid.tokens > 0) {
    buffer.elements = saturating_add(saturating_mul(side.grid.tokens - 1, stride), width);
  }
  buffer.used = saturating_mul(side.grid.tokens, width);
  buffer.rows_per_token = 1;
  buffer.row_width = width;
  buffer.token_stride = stride;
  buffer.row_stride = width;
  int64_t first_head = 0;
  for (size_t i = 0; i < side.views.size(); ++i) {
    side.views[i] = {0, saturating_mul(first_head, c.head_dim), stride, c.head_dim, 0};
    first_head = saturating_add(first_head, operands.heads[i]);
  }
  side.buffers.push_back(buffer);
  return side;
}

// A buffer for each operand. Strides are those of the config, or none.
Side separate_side(const RopeCase& c, const Operands& operands, const Grid& grid, bool strides) {
  static constexpr const char* kNames[] = {"q", "k", "v"};
  Side side;
  side.grid = grid;
  for (size_t i = 0; i < side.views.size(); ++i) {
    if (operands.heads[i] == 0) continue;
    TensorLayout layout = i == 0 ? c.layout.q : i == 1 ? c.layout.k : TensorLayout();
    if (!strides) layout.token_stride = layout.head_stride = std::nullopt;
    const TensorExtent extent = extent_on(c, layout, operands.heads[i], grid);
    side.views[i] = {static_cast<int>(side.buffers.size()), 0, extent.token_stride,
                     extent.head_stride, extent.batch_stride};
    OperandBuffer buffer{kNames[i], extent.elements};
    buffer.rows_per_token = operands.heads[i];
    buffer.row_width = operands.widths[i];
    buffer.used =
        saturating_mul(saturating_mul(grid.num_tokens(), operands.heads[i]), operands.widths[i]);
    buffer.token_stride = extent.token_stride;
    buffer.row_stride = extent.head_stride;
    buffer.batch_stride = extent.batch_stride;
    side.buffers.push_back(buffer);
  }
  return side;
}

}  // namespace

int64_t Side::elements() const {
  int64_t total = 0;
  for (const OperandBuffer& buffer : buffers) total = saturating_add(total, buffer.elements);
  return total;
}

Operands operands_of(const RopeCase& c) {
  Operands operands;
  operands.heads = {c.num_heads, c.num_kv_heads, is_split(c.op) ? c.num_kv_heads : 0};
  operands.widths = {head_width(c, c.layout.q), head_width(c, c.layout.k), c.head_dim};
  operands.in_place = c.layout.in_place;
  const bool packed_in = is_split(c.op) && (!is_backward(c.op) || c.layout.in_place);
  operands.in = packed_in ? packed_side(c, operands)
                          : separate_side(c, operands, input_grid(c), !is_split(c.op));
  if (c.layout.in_place) {
    operands.out = operands.in;
  } else if (is_split(c.op) && is_backward(c.op)) {
    operands.out = packed_side(c, operands);
  } else {
    operands.out = separate_side(c, operands, output_grid(c), false);
  }
  return operands;
}

}  // namespace rope_bench
