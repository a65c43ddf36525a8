// Do the values of a complete case go together? Everything here is arithmetic on shapes: nothing
// grows with the number of tokens, but for lists that the config itself spells out.
#include <fmt/format.h>

#include <algorithm>

#include "src/case/checked_math.h"
#include "src/case/positions.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

void check_strides(const RopeCase& c, const char* tensor, const TensorLayout& layout, int64_t heads,
                   Problems* problems) {
  const std::string path = std::string("layout.") + tensor;
  const std::vector<std::string> shape = {
      "model.num_heads", "model.num_kv_heads",    "model.gqa_ratio",
      "model.head_dim",  "rope.rotary_dim",       "rope.partial_rotary_factor",
      "rope.pairing",    path + ".rotary_offset", "tokens",
      "seq_lens",        "model.batch",           "layout.order"};
  const auto problem = [&](std::string text, std::vector<std::string> keys) {
    keys.insert(keys.end(), shape.begin(), shape.end());
    problems->push_back({std::move(text), std::move(keys)});
  };
  const TensorExtent extent = extent_of(c, layout, heads);
  const int64_t head = std::max(c.head_dim, layout.rotary_offset + c.rope.rotary_dim);
  const int64_t tokens = c.num_tokens();
  const int64_t per_head = c.layout.heads_tokens_dim && c.seq_lens.empty() ? c.tokens : tokens;
  // Bytes of the operand, that is elements times size, must fit 64 bits.
  const int64_t size = static_cast<int64_t>(info(c.dtype).size);
  if (!fits64(Int128{extent.elements} * size * 2)) {
    problem(fmt::format("{} spans more than 2^63 bytes: {} tokens of {} heads of {} elements",
                        tensor, tokens, heads, head),
            {path + ".token_stride", path + ".head_stride"});
    return;
  }
  if (tokens == 0) return;
  const int64_t inner_of_head = c.layout.heads_tokens_dim && per_head > 1
                                    ? (per_head - 1) * extent.token_stride + head
                                    : head;
  if (heads > 1 && extent.head_stride < inner_of_head) {
    problem(fmt::format("{} head_stride {} is below {}, what one head of {} spans", path,
                        extent.head_stride, inner_of_head, tensor),
            {path + ".head_stride", path + ".token_stride"});
    return;
  }
  const int64_t row =
      c.layout.heads_tokens_dim || heads <= 1 ? head : (heads - 1) * extent.head_stride + head;
  if (tokens > 1 && extent.token_stride < row) {
    problem(fmt::format("{} token_stride {} is below {}, the row of {} heads that one token spans",
                        path, extent.token_stride, row, c.layout.heads_tokens_dim ? 1 : heads),
            {path + ".token_stride", path + ".head_stride"});
  }
}

}  // namespace

void check_shape(const RopeCase& c, Problems* problems) {
  const std::vector<std::string> keys = {"tokens",          "seq_lens",           "model.batch",
                                         "model.num_heads", "model.num_kv_heads", "model.gqa_ratio",
                                         "model.head_dim"};
  Int128 tokens = Int128{c.batch} * c.tokens;
  if (!c.seq_lens.empty()) {
    tokens = 0;
    for (const int64_t length : c.seq_lens) tokens += length;
  }
  if (!fits64(tokens)) {
    problems->push_back({"more than 2^63 tokens", keys});
    return;
  }
  check_strides(c, "q", c.layout.q, c.num_heads, problems);
  check_strides(c, "k", c.layout.k, c.num_kv_heads, problems);
  if (!problems->empty()) return;
  // Reads and writes of q, k and v together, a position and a float table row for every token.
  const int64_t per_token =
      saturating_add(saturating_mul(c.num_heads, c.head_dim),
                     saturating_mul(saturating_mul(c.num_kv_heads, 2), c.head_dim));
  const Int128 bytes_per_token = Int128{per_token} * 8 + Int128{c.rope.rotary_dim} * 4 + 32;
  if (bytes_per_token > kMaxInt64 || !fits64(bytes_per_token * c.num_tokens())) {
    problems->push_back({fmt::format("more than 2^63 bytes: {} tokens of {} + {} heads of {}",
                                     c.num_tokens(), c.num_heads, c.num_kv_heads, c.head_dim),
                         keys});
  }
}

void check_positions(const RopeCase& c, Problems* problems) {
  const std::vector<std::string> keys = {"positions",   "position_offset", "rope.table.rows",
                                         "tokens",      "seq_lens",        "rope.seq_len",
                                         "model.batch", "position_dtype",  "model.max_position"};
  const auto problem = [&](std::string text) { problems->push_back({std::move(text), keys}); };
  const int64_t tokens = c.num_tokens();
  const int64_t offset = c.positions.offset;
  if (c.positions.kind == PositionKind::kExplicit) {
    const int64_t length = static_cast<int64_t>(c.positions.list.size());
    if (length != tokens && !(c.seq_lens.empty() && length == c.tokens)) {
      problem(
          fmt::format("{} positions for {} tokens{}", length, tokens,
                      c.batch > 1 ? fmt::format(" ({} sequences of {})", c.batch, c.tokens) : ""));
      return;
    }
  }
  if (tokens == 0) return;
  const int64_t rows = table_rows_of(c);
  const auto check = [&](Int128 position, int64_t token, const std::string& more = "") {
    if (position < 0) {
      problem(fmt::format("position {} < 0 at token {}", saturate(position), token));
    } else if (position >= rows) {
      problem(fmt::format("position {} >= {} rows at token {}{}", saturate(position), rows, token,
                          more));
    } else if (c.positions.bits == 32 && position > std::numeric_limits<int32_t>::max()) {
      problem(fmt::format("position {} at token {} does not fit position_dtype int32",
                          saturate(position), token));
    }
    return problems->empty();
  };
  switch (c.positions.kind) {
    case PositionKind::kExplicit: {
      int64_t token = 0;
      for (const int64_t position : c.positions.list) {
        if (!check(Int128{position} + offset, token++)) return;
      }
      return;
    }
    case PositionKind::kSequential: {
      // The first token that fails: the earliest sequence long enough to leave the table.
      if (!check(offset, 0)) return;
      const int64_t limit = c.positions.bits == 32
                                ? std::min(rows, int64_t{std::numeric_limits<int32_t>::max()} + 1)
                                : rows;
      const int64_t longest = longest_sequence(c);
      const std::string more = fmt::format(" (needs {} rows)", saturating_add(offset, longest));
      const int64_t fits = limit - offset;  // tokens of a sequence that fit
      int64_t first = 0;
      const std::vector<int64_t> one = {c.tokens};
      for (const int64_t length : c.seq_lens.empty() ? one : c.seq_lens) {
        if (length > fits) {
          check(limit, first + fits, more);
          return;
        }
        first += length;
      }
      return;
    }
    default:
      // Drawn from [offset, bound), which lies below the table's rows.
      if (offset < 0) {
        problem(
            fmt::format("position_offset {} < 0 for {} positions", offset, name(c.positions.kind)));
      } else if (offset >= drawn_bound(c)) {
        problem(fmt::format("position_offset {} >= {} rows for {} positions", offset,
                            drawn_bound(c), name(c.positions.kind)));
      } else if (c.positions.bits == 32 &&
                 drawn_bound(c) - 1 > std::numeric_limits<int32_t>::max()) {
        problem(fmt::format("{} positions below {} rows do not fit position_dtype int32",
                            name(c.positions.kind), drawn_bound(c)));
      }
  }
}

}  // namespace rope_bench
