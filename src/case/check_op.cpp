// What goes with the op of a case: layouts of packed rows, sequences, norm weights.
#include <fmt/format.h>

#include <algorithm>

#include "src/case/checked_math.h"
#include "src/case/operands.h"
#include "src/case/positions.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

void check_packed_rows(const RopeCase& c, Problems* problems) {
  const std::string op = name(c.op);
  const std::vector<std::string> shape = {"model.num_heads", "model.num_kv_heads",
                                          "model.gqa_ratio", "model.head_dim", "op"};
  const auto problem = [&](std::string text, const std::string& blamed) {
    std::vector<std::string> keys = {blamed};
    keys.insert(keys.end(), shape.begin(), shape.end());
    problems->push_back({std::move(text), std::move(keys)});
  };
  const struct {
    const char* path;
    const std::optional<int64_t>& stride;
  } unused[] = {{"layout.q.head_stride", c.layout.q.head_stride},
                {"layout.k.token_stride", c.layout.k.token_stride},
                {"layout.k.head_stride", c.layout.k.head_stride}};
  for (const auto& [path, stride] : unused) {
    if (!stride) continue;
    problem(
        fmt::format("{} {} with op {}, whose q, k and v lie in packed rows; the stride of these "
                    "is layout.q.token_stride",
                    path, *stride, op),
        path);
  }
  for (const auto& [tensor, layout] : {std::pair("q", &c.layout.q), std::pair("k", &c.layout.k)}) {
    if (head_width(c, *layout) == c.head_dim) continue;
    problem(fmt::format("rotary_offset {} of {} + rotary_dim {} is beyond head_dim {}, where the "
                        "next head of a packed row begins",
                        layout->rotary_offset, tensor, c.rope.rotary_dim, c.head_dim),
            fmt::format("layout.{}.rotary_offset", tensor));
  }
  const int64_t heads = saturating_add(c.num_heads, saturating_mul(2, c.num_kv_heads));
  const int64_t row = saturating_mul(heads, c.head_dim);
  if (heads > kMaxInt32) {
    problem(fmt::format("{} heads of q, k and v in a row; allowed: up to {}", heads, kMaxInt32),
            "model.num_heads");
  } else if (c.num_tokens() > 1 && c.layout.q.token_stride.value_or(row) < row) {
    problem(fmt::format("token_stride {} of q is below {}, the packed row of {} heads",
                        *c.layout.q.token_stride, row, heads),
            "layout.q.token_stride");
  }
  if (c.layout.in_place && c.layout.heads_tokens_dim && !is_padded(c)) {
    problems->push_back({fmt::format("order heads_tokens_dim of op {} in place: packed rows have "
                                     "the order of tokens",
                                     op),
                         {"layout.order", "layout.in_place", "op"}});
  }
}

// cu_seqlens tells where sequences begin, and not more.
void check_consecutive(const RopeCase& c, Problems* problems) {
  const auto problem = [&](std::string text) {
    problems->push_back({text + ", but cu_seqlens knows one start per sequence; varlen.source "
                                "position_ids knows every position",
                         {"positions", "varlen.source", "rope.axes.positions", "op"}});
  };
  // With axes, kernels count rows of the table: these are consecutive whatever the positions.
  if (c.rope.axes.kind != "none") return;
  if (c.positions.kind == PositionKind::kRandom || c.positions.kind == PositionKind::kBoundary)
    return problem(std::string(name(c.positions.kind)) + " positions");
  if (c.positions.kind != PositionKind::kExplicit) return;
  const std::vector<int64_t>& list = c.positions.list;
  const int64_t size = static_cast<int64_t>(list.size());
  // A list of all tokens, or that of each sequence: then it is looked at once.
  std::vector<int64_t> lengths = c.seq_lens;
  if (lengths.empty() && c.tokens > 0) lengths.assign(size / c.tokens, c.tokens);
  int64_t first = 0;
  for (const int64_t length : lengths) {
    for (int64_t t = first; t < std::min(first + length, size); ++t) {
      if (list[t] < 0) return problem(fmt::format("padding at token {}", t));
      if (t == first || list[t] == list[t - 1] + 1) continue;
      return problem(fmt::format("position {} follows {} at token {}", list[t], list[t - 1], t));
    }
    first += length;
  }
}

void check_sequences(const RopeCase& c, Problems* problems) {
  const std::vector<std::string> keys = {
      "varlen.source",     "tokens", "seq_lens", "model.batch", "varlen.output",
      "varlen.max_seqlen", "op"};
  const auto problem = [&](std::string text, const std::string& blamed) {
    std::vector<std::string> all = {blamed};
    all.insert(all.end(), keys.begin(), keys.end());
    problems->push_back({std::move(text), std::move(all)});
  };
  const int64_t longest = longest_sequence(c);
  if (c.varlen.max_seqlen && *c.varlen.max_seqlen < longest) {
    problem(fmt::format("max_seqlen {} is below {}, the longest sequence", *c.varlen.max_seqlen,
                        longest),
            "varlen.max_seqlen");
  }
  if (is_padded(c) && c.layout.in_place) {
    problem("a padded output cannot be in place", "layout.in_place");
  }
  const bool counted = c.varlen.source != "position_ids";
  if (counted && (c.num_tokens() > kMaxInt32 || c.num_sequences() >= kMaxInt32)) {
    problem(fmt::format("{} tokens of {} sequences: {} is int32, allowed: up to {}", c.num_tokens(),
                        c.num_sequences(), c.varlen.source, kMaxInt32),
            "tokens");
    return;
  }
  if (is_padded(c) && output_grid(c).num_tokens() > kMaxInt32) {
    problem(fmt::format("a padded output of {} x {} rows, allowed: up to {}", c.num_sequences(),
                        padded_length_of(c), kMaxInt32),
            "varlen.output");
  }
  if (counted && c.positions.bits == 64) {
    problem(
        fmt::format("position_dtype int64 with varlen.source {}, which is int32", c.varlen.source),
        "position_dtype");
  }
  if (c.varlen.source == "cu_seqlens") check_consecutive(c, problems);
}

}  // namespace

void check_op(const RopeCase& c, Problems* problems) {
  int64_t listed = 0;
  for (const int64_t length : c.seq_lens) listed = saturating_add(listed, length);
  if (c.num_tokens() > listed && !c.seq_lens.empty() && c.op != Op::kVarlenSplitRope) {
    problems->push_back({fmt::format("tokens {} is above {}, the sum of seq_lens: padding tokens "
                                     "belong to op varlen_split_rope",
                                     c.tokens, listed),
                         {"tokens", "seq_lens", "op"}});
  }
  if (c.op == Op::kNormSplitRope && !c.norm.weight && c.norm.weight_offset != 0) {
    problems->push_back({"weight_offset 1 without weights: a norm without weights multiplies by 1",
                         {"norm.weight_offset", "norm.weight", "op"}});
  }
  if (is_split(c.op)) check_packed_rows(c, problems);
  if (c.op == Op::kVarlenSplitRope) check_sequences(c, problems);
}

}  // namespace rope_bench
