// Do the values of a complete case go together? Everything here is arithmetic on shapes: nothing
// grows with the number of tokens, but for lists that the config itself spells out.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/case/checked_math.h"
#include "src/case/operands.h"
#include "src/case/positions.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

// One operand's strides: elements of different heads and tokens must not share memory.
class StrideCheck {
 public:
  StrideCheck(const RopeCase& c, const char* tensor, const TensorLayout& layout, int64_t heads,
              Problems* problems)
      : c_(c),
        tensor_(tensor),
        heads_(heads),
        problems_(problems),
        extent_(extent_of(c, layout, heads)),
        head_(head_width(c, layout)) {}

  void run() {
    // Dims behind head_dim, as MLA has them, are only there if a stride leaves room for them.
    const TensorLayout& given = tensor_[0] == 'q' ? c_.layout.q : c_.layout.k;
    if (head_ > c_.head_dim && !given.head_stride && !given.token_stride) {
      return problem(fmt::format("rotary_offset {} of {} + rotary_dim {} is beyond head_dim {}; a "
                                 "head that goes on behind head_dim needs a head_stride",
                                 given.rotary_offset, tensor_, c_.rope.rotary_dim, c_.head_dim),
                     path("rotary_offset"));
    }
    const int64_t size = static_cast<int64_t>(info(c_.dtype).size);
    if (!fits64(Int128{extent_.elements} * size * 2)) {
      return problem(fmt::format("{} spans more than 2^63 bytes: {} tokens of {} heads of {} "
                                 "elements",
                                 tensor_, c_.num_tokens(), heads_, head_),
                     "tokens");
    }
    if (c_.num_tokens() == 0) return;
    // The outer stride is judged only if the inner one, which it is made of, is right.
    if (c_.layout.heads_tokens_dim) {
      const int64_t tokens = input_grid(c_).tokens;
      if (token_stride(head_, 1)) head_stride((tokens - 1) * extent_.token_stride + head_);
    } else {
      if (head_stride(head_)) token_stride((heads_ - 1) * extent_.head_stride + head_, heads_);
    }
  }

 private:
  bool token_stride(int64_t row, int64_t heads) {
    if (c_.num_tokens() <= 1 || extent_.token_stride >= row) return true;
    problem(fmt::format("token_stride {} of {} is below {}, the row of {} heads that a token spans",
                        extent_.token_stride, tensor_, row, heads),
            path("token_stride"));
    return false;
  }

  bool head_stride(int64_t span) {
    if (heads_ <= 1 || extent_.head_stride >= span) return true;
    problem(fmt::format("head_stride {} of {} is below {}, what one head spans",
                        extent_.head_stride, tensor_, span),
            path("head_stride"));
    return false;
  }

  std::string path(const char* leaf) const { return fmt::format("layout.{}.{}", tensor_, leaf); }

  void problem(std::string text, std::string blamed) {
    problems_->push_back(
        {std::move(text),
         {std::move(blamed), path("token_stride"), path("head_stride"), path("rotary_offset"),
          "seq_lens", "tokens", "model.batch", "model.num_heads", "model.num_kv_heads",
          "model.gqa_ratio", "model.head_dim", "rope.rotary_dim", "rope.partial_rotary_factor",
          "rope.pairing", "layout.order"}});
  }

  const RopeCase& c_;
  const char* tensor_;
  int64_t heads_;
  Problems* problems_;
  TensorExtent extent_;
  int64_t head_;  // elements that one head spans
};

}  // namespace

void check_shape(const RopeCase& c, Problems* problems) {
  // Made only when needed: most cases have no problem.
  const auto keys = [] {
    return std::vector<std::string>{"tokens",          "seq_lens",           "model.batch",
                                    "model.num_heads", "model.num_kv_heads", "model.gqa_ratio",
                                    "model.head_dim"};
  };
  Int128 tokens = Int128{c.batch} * c.tokens;
  if (!c.seq_lens.empty()) {
    tokens = 0;
    for (const int64_t length : c.seq_lens) tokens += length;
    tokens = std::max(tokens, Int128{c.tokens});
  }
  if (!fits64(tokens)) {
    problems->push_back({"more than 2^63 tokens", keys()});
    return;
  }
  if (!is_split(c.op)) {
    StrideCheck(c, "q", c.layout.q, c.num_heads, problems).run();
    StrideCheck(c, "k", c.layout.k, c.num_kv_heads, problems).run();
  }
  if (!problems->empty()) return;
  // Reads and writes of q, k and v together, a position and a float table row for every token.
  const int64_t per_token =
      saturating_add(saturating_mul(c.num_heads, c.head_dim),
                     saturating_mul(saturating_mul(c.num_kv_heads, 2), c.head_dim));
  // Several launches of one op move them up to three times.
  const Int128 bytes_per_token = Int128{per_token} * 24 + Int128{c.rope.rotary_dim} * 4 + 32;
  if (bytes_per_token > kMaxInt64 || !fits64(bytes_per_token * c.num_tokens())) {
    problems->push_back({fmt::format("more than 2^63 bytes: {} tokens of {} + {} heads of {}",
                                     c.num_tokens(), c.num_heads, c.num_kv_heads, c.head_dim),
                         keys()});
  }
}

void check_positions(const RopeCase& c, Problems* problems) {
  const auto problem = [&](std::string text) {
    problems->push_back({std::move(text),
                         {c.positions.axis_lists.empty() ? "positions" : "rope.axes.positions",
                          "position_offset", "rope.table.rows", "tokens", "seq_lens",
                          "rope.seq_len", "model.batch", "position_dtype", "model.max_position"}});
  };
  const int64_t tokens = c.num_tokens();
  const int64_t offset = c.positions.offset;
  if (c.positions.kind == PositionKind::kExplicit) {
    const int64_t length = static_cast<int64_t>(c.positions.list.size());
    const int64_t listed =
        std::accumulate(c.seq_lens.begin(), c.seq_lens.end(), c.seq_lens.empty() ? tokens : 0);
    if (length != listed && !(c.seq_lens.empty() && length == c.tokens)) {
      problem(
          fmt::format("{} positions for {} tokens{}", length, listed,
                      c.batch > 1 ? fmt::format(" ({} sequences of {})", c.batch, c.tokens) : ""));
      return;
    }
  }
  if (c.num_real_tokens() == 0) return;
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
      std::vector<std::vector<int64_t>> lists = c.positions.axis_lists;
      if (lists.empty()) lists.push_back(c.positions.list);
      for (const std::vector<int64_t>& list : lists) {
        int64_t token = 0;
        for (const int64_t position : list) {
          const bool padding = c.op == Op::kVarlenSplitRope && c.positions.list[token] < 0;
          if (!padding && !check(Int128{position} + offset, token)) return;
          ++token;
        }
      }
      return;
    }
    case PositionKind::kSequential: {
      // The first token that fails: the earliest sequence long enough to leave the table.
      if (!check(offset, 0)) return;
      const int64_t limit = c.positions.bits == 32
                                ? std::min(rows, int64_t{std::numeric_limits<int32_t>::max()} + 1)
                                : rows;
      const int64_t fits = limit - offset;  // tokens of a sequence that fit
      int64_t first = 0;
      const std::vector<int64_t> one = {c.tokens};
      for (const int64_t length : c.seq_lens.empty() ? one : c.seq_lens) {
        if (length > fits) {
          check(limit, first + fits,
                fmt::format(" (needs {} rows)", saturating_add(offset, longest_sequence(c))));
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
      } else if (draws_starts(c) && longest_sequence(c) > drawn_bound(c) - offset) {
        problem(fmt::format("a sequence of {} tokens from position {} on does not fit {} rows",
                            longest_sequence(c), offset, drawn_bound(c)));
      } else if (c.positions.bits == 32 &&
                 drawn_bound(c) - 1 > std::numeric_limits<int32_t>::max()) {
        problem(fmt::format("{} positions below {} rows do not fit position_dtype int32",
                            name(c.positions.kind), drawn_bound(c)));
      }
  }
}

}  // namespace rope_bench
