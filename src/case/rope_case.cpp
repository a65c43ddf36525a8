// Shapes of a case: token count, strides and what an operand spans.
#include "src/case/rope_case.h"

#include <algorithm>

#include "src/case/checked_math.h"

namespace rope_bench {

int64_t RopeCase::num_tokens() const {
  if (seq_lens.empty()) return saturating_mul(batch, tokens);
  int64_t total = 0;
  for (const int64_t length : seq_lens) total = saturating_add(total, length);
  return total;
}

TensorExtent extent_of(const RopeCase& c, const TensorLayout& layout, int64_t heads) {
  // With a rotary offset the slice may lie behind head_dim (MLA: head_dim counts only the rotated
  // part), so a head spans whichever ends later.
  const int64_t head =
      std::max(c.head_dim, saturating_add(layout.rotary_offset, c.rope.rotary_dim));
  const int64_t all_tokens = c.num_tokens();
  const bool batched = c.layout.heads_tokens_dim && c.seq_lens.empty();
  const int64_t sequences = batched ? c.batch : 1;
  const int64_t tokens = batched ? c.tokens : all_tokens;  // along the token axis

  TensorExtent extent;
  // The stride of an axis of size 1 is never used: whatever was given, the packed one is reported.
  const bool one_token = all_tokens <= 1;
  const bool one_head = heads <= 1;
  if (c.layout.heads_tokens_dim) {
    extent.token_stride = one_token ? head : layout.token_stride.value_or(head);
    const int64_t packed = saturating_mul(std::max<int64_t>(tokens, 1), extent.token_stride);
    extent.head_stride = one_head ? packed : layout.head_stride.value_or(packed);
  } else {
    extent.head_stride = one_head ? head : layout.head_stride.value_or(head);
    const int64_t packed = saturating_mul(heads, extent.head_stride);
    extent.token_stride = one_token ? packed : layout.token_stride.value_or(packed);
  }
  if (all_tokens > 0 && heads > 0) {
    const int64_t sequence_stride = saturating_mul(heads, extent.head_stride);
    const int64_t last =
        saturating_add(saturating_mul(sequences - 1, sequence_stride),
                       saturating_add(saturating_mul(heads - 1, extent.head_stride),
                                      saturating_mul(tokens - 1, extent.token_stride)));
    extent.elements = saturating_add(last, head);
  }
  return extent;
}

}  // namespace rope_bench
