// Algorithmic bytes of a case: the numerator of every bandwidth that is reported.
#include <algorithm>

#include "src/case/axes.h"
#include "src/case/checked_math.h"
#include "src/case/operands.h"
#include "src/case/positions.h"
#include "src/case/rope_case.h"

namespace rope_bench {
namespace {

// Elements of q and k of one token that a pass touches: whole heads, or their rotated dims.
int64_t whole_heads(const RopeCase& c) {
  return saturating_add(saturating_mul(c.num_heads, head_width(c, c.layout.q)),
                        saturating_mul(c.num_kv_heads, head_width(c, c.layout.k)));
}
int64_t rotated_dims(const RopeCase& c) {
  return saturating_mul(saturating_add(c.num_heads, c.num_kv_heads), c.rope.rotary_dim);
}
int64_t value_heads(const RopeCase& c) {
  return is_split(c.op) ? saturating_mul(c.num_kv_heads, c.head_dim) : 0;
}

// Elements of one token that are read, and as many written. In place, what passes through stays
// where it is, unless a norm or bias changes it.
int64_t elements_per_token(const RopeCase& c) {
  const bool moved = !c.layout.in_place;
  const int64_t value = moved || has_bias(c) ? value_heads(c) : 0;
  if (c.variant == "unfused") {
    int64_t elements = rotated_dims(c);
    if (has_norm(c)) elements = saturating_add(elements, whole_heads(c));
    if (moved || has_bias(c)) {
      elements = saturating_add(elements, saturating_add(whole_heads(c), value));
    }
    return elements;
  }
  const bool whole = moved || has_norm(c) || has_bias(c);
  return saturating_add(whole ? whole_heads(c) : rotated_dims(c), value);
}

int64_t position_bytes(const RopeCase& c, int64_t tokens, bool uses_table) {
  const int64_t size = c.positions.bits / 8;
  int64_t bytes = 0;
  // Without a table the positions on the axes are read, not the row that a table would have.
  if (!uses_table && c.rope.axes.kind != "none") {
    bytes = saturating_mul(saturating_mul(tokens, size), num_axes(c.rope.axes));
    if (c.op != Op::kVarlenSplitRope) return bytes;
  }
  const int64_t sequences = c.num_sequences();
  if (c.op == Op::kVarlenSplitRope && c.varlen.source == "cu_seqlens") {
    const int64_t starts = has_sequence_starts(c) ? sequences : 0;
    return saturating_add(bytes,
                          saturating_mul(saturating_add(saturating_add(sequences, 1), starts), 4));
  }
  const bool offsets = c.op == Op::kVarlenSplitRope && c.varlen.source == "padding_offset";
  int64_t per_token = offsets ? 4 : size;
  if (is_padded(c)) per_token += 4;  // the row that it goes to
  return saturating_add(bytes, saturating_mul(tokens, per_token));
}

// What a fused op reads once, whatever the number of tokens.
int64_t parameter_elements(const RopeCase& c) {
  int64_t elements = 0;
  if (has_norm(c) && c.norm.weight) {
    const int64_t heads = c.norm.span_row ? saturating_add(c.num_heads, c.num_kv_heads) : 2;
    elements = saturating_mul(heads, c.head_dim);
  }
  if (has_bias(c)) {
    const int64_t heads = saturating_add(c.num_heads, saturating_mul(2, c.num_kv_heads));
    elements = saturating_add(elements, saturating_mul(heads, c.head_dim));
  }
  return elements;
}

}  // namespace

ByteCount bytes_of(const RopeCase& c, bool uses_table) {
  const int64_t tokens = c.num_real_tokens();
  ByteCount bytes;
  bytes.in_place = c.layout.in_place;
  if (tokens == 0) return bytes;
  const int64_t size = static_cast<int64_t>(info(c.dtype).size);
  bytes.write = saturating_mul(saturating_mul(elements_per_token(c), size), tokens);
  bytes.read = saturating_add(bytes.write, saturating_mul(parameter_elements(c), size));
  if (uses_table) {
    const int64_t row =
        saturating_mul(c.rope.rotary_dim, static_cast<int64_t>(info(c.rope.table.dtype).size));
    bytes.table = saturating_mul(distinct_rows(c), row);
  }
  bytes.positions = position_bytes(c, tokens, uses_table);
  return bytes;
}

}  // namespace rope_bench
