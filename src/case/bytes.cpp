// Algorithmic bytes of a case: the numerator of every bandwidth that is reported.
#include <algorithm>

#include "src/case/checked_math.h"
#include "src/case/positions.h"
#include "src/case/rope_case.h"

namespace rope_bench {
namespace {

bool has_value_tensor(Op op) { return op != Op::kRope && op != Op::kRopeBackward; }

// Elements of one head that a launch touches. In place, dims that pass through are left alone,
// unless a norm rewrites the whole head.
int64_t dims_touched(const RopeCase& c, const TensorLayout& layout) {
  const bool rotated_only = c.layout.in_place && c.op != Op::kNormSplitRope;
  if (rotated_only) return c.rope.rotary_dim;
  return std::max(c.head_dim, saturating_add(layout.rotary_offset, c.rope.rotary_dim));
}

int64_t position_bytes(const RopeCase& c, int64_t tokens) {
  const bool from_offsets = c.op == Op::kVarlenSplitRope && c.varlen.source == "cu_seqlens";
  if (from_offsets) return saturating_mul(static_cast<int64_t>(c.seq_lens.size()) + 1, 4);
  const bool from_padding = c.op == Op::kVarlenSplitRope && c.varlen.source == "padding_offset";
  const int64_t size = from_padding ? 4 : c.positions.bits / 8;
  return saturating_mul(tokens, size);
}

// What a fused op reads once, whatever the number of tokens.
int64_t parameter_elements(const RopeCase& c) {
  int64_t elements = 0;
  if (c.op == Op::kNormSplitRope) {
    const int64_t heads = c.norm.span_row ? saturating_add(c.num_heads, c.num_kv_heads) : 2;
    elements = saturating_mul(heads, c.head_dim);
  }
  if (c.qkv_bias && has_value_tensor(c.op)) {
    const int64_t heads = saturating_add(c.num_heads, saturating_mul(2, c.num_kv_heads));
    elements = saturating_add(elements, saturating_mul(heads, c.head_dim));
  }
  return elements;
}

}  // namespace

ByteCount bytes_of(const RopeCase& c) {
  const int64_t tokens = c.num_tokens();
  ByteCount bytes;
  if (tokens == 0) return bytes;
  const int64_t size = static_cast<int64_t>(info(c.dtype).size);
  int64_t per_token = saturating_add(saturating_mul(c.num_heads, dims_touched(c, c.layout.q)),
                                     saturating_mul(c.num_kv_heads, dims_touched(c, c.layout.k)));
  // V is copied out of the packed input; in place it stays where it is.
  if (has_value_tensor(c.op) && !c.layout.in_place) {
    per_token = saturating_add(per_token, saturating_mul(c.num_kv_heads, c.head_dim));
  }
  bytes.write = saturating_mul(saturating_mul(per_token, size), tokens);
  bytes.read = saturating_add(bytes.write, saturating_mul(parameter_elements(c), size));
  const int64_t row =
      saturating_mul(c.rope.rotary_dim, static_cast<int64_t>(info(c.rope.table.dtype).size));
  bytes.table = saturating_mul(distinct_rows(c), row);
  bytes.positions = position_bytes(c, tokens);
  return bytes;
}

}  // namespace rope_bench
