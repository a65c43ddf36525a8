// Shapes of a case: tokens, sequences, strides and what an operand spans.
#include "src/case/rope_case.h"

#include <algorithm>

#include "src/case/checked_math.h"
#include "src/case/operands.h"
#include "src/case/positions.h"

namespace rope_bench {
namespace {

int64_t sum_of(const std::vector<int64_t>& lengths) {
  int64_t total = 0;
  for (const int64_t length : lengths) total = saturating_add(total, length);
  return total;
}

}  // namespace

bool is_split(Op op) { return op != Op::kRope && op != Op::kRopeBackward; }
bool is_backward(Op op) { return op == Op::kRopeBackward || op == Op::kSplitRopeBackward; }
bool has_bias(const RopeCase& c) { return c.qkv_bias && is_split(c.op) && !is_backward(c.op); }
bool has_norm(const RopeCase& c) { return c.op == Op::kNormSplitRope; }
bool is_padded(const RopeCase& c) { return c.op == Op::kVarlenSplitRope && c.varlen.padded_output; }

int64_t RopeCase::num_tokens() const {
  if (seq_lens.empty()) return saturating_mul(batch, tokens);
  return std::max(tokens, sum_of(seq_lens));
}

int64_t RopeCase::num_real_tokens() const {
  const int64_t all = seq_lens.empty() ? num_tokens() : sum_of(seq_lens);
  if (op != Op::kVarlenSplitRope || positions.kind != PositionKind::kExplicit) return all;
  const auto padding = std::count_if(positions.list.begin(), positions.list.end(),
                                     [](int64_t position) { return position < 0; });
  // A list is that of all tokens, or of each of `batch` sequences.
  const bool each = static_cast<int64_t>(positions.list.size()) != all;
  return all - (each ? saturating_mul(padding, batch) : padding);
}

int64_t RopeCase::num_sequences() const {
  return seq_lens.empty() ? batch : static_cast<int64_t>(seq_lens.size());
}

std::vector<int64_t> sequence_lengths_of(const RopeCase& c) {
  if (!c.seq_lens.empty()) return c.seq_lens;
  return std::vector<int64_t>(static_cast<size_t>(c.batch), c.tokens);
}

int64_t padded_length_of(const RopeCase& c) {
  return c.varlen.max_seqlen.value_or(longest_sequence(c));
}

int64_t head_width(const RopeCase& c, const TensorLayout& layout) {
  return std::max(c.head_dim, saturating_add(layout.rotary_offset, c.rope.rotary_dim));
}

Grid input_grid(const RopeCase& c) {
  const bool batched = c.layout.heads_tokens_dim && c.seq_lens.empty();
  return batched ? Grid{c.batch, c.tokens} : Grid{1, c.num_tokens()};
}

Grid output_grid(const RopeCase& c) {
  return is_padded(c) ? Grid{c.num_sequences(), padded_length_of(c)} : input_grid(c);
}

TensorExtent extent_on(const RopeCase& c, const TensorLayout& layout, int64_t heads,
                       const Grid& grid) {
  const int64_t head = head_width(c, layout);
  const bool one_token = grid.num_tokens() <= 1;
  const bool one_head = heads <= 1;
  TensorExtent extent;
  // The stride of an axis of size 1 is never used: whatever was given, the packed one is reported.
  if (c.layout.heads_tokens_dim) {
    extent.token_stride = one_token ? head : layout.token_stride.value_or(head);
    const int64_t packed = saturating_mul(std::max<int64_t>(grid.tokens, 1), extent.token_stride);
    extent.head_stride = one_head ? packed : layout.head_stride.value_or(packed);
  } else {
    extent.head_stride = one_head ? head : layout.head_stride.value_or(head);
    const int64_t packed = saturating_mul(heads, extent.head_stride);
    extent.token_stride = one_token ? packed : layout.token_stride.value_or(packed);
  }
  if (grid.batches > 1) {
    extent.batch_stride = c.layout.heads_tokens_dim
                              ? saturating_mul(heads, extent.head_stride)
                              : saturating_mul(grid.tokens, extent.token_stride);
  }
  if (grid.num_tokens() > 0 && heads > 0) {
    const int64_t last =
        saturating_add(saturating_mul(grid.batches - 1, extent.batch_stride),
                       saturating_add(saturating_mul(heads - 1, extent.head_stride),
                                      saturating_mul(grid.tokens - 1, extent.token_stride)));
    extent.elements = saturating_add(last, head);
  }
  return extent;
}

TensorExtent extent_of(const RopeCase& c, const TensorLayout& layout, int64_t heads) {
  return extent_on(c, layout, heads, input_grid(c));
}

}  // namespace rope_bench
