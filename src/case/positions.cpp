#include "src/case/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/case/axes.h"
#include "src/case/checked_math.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

// Shapes above this are never drawn position by position just to describe a case.
constexpr int64_t kDrawLimit = int64_t{1} << 28;

// SplitMix64 as a counter-based generator: integer arithmetic only, so every machine agrees.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool is_drawn(const RopeCase& c) {
  return c.positions.kind == PositionKind::kDecode || c.positions.kind == PositionKind::kRandom ||
         c.positions.kind == PositionKind::kBoundary;
}

class Drawing {
 public:
  explicit Drawing(const RopeCase& c, int64_t axis = 0)
      : first_(c.positions.offset),
        count_(static_cast<uint64_t>(std::max<int64_t>(1, drawn_bound(c) - c.positions.offset))),
        key_(mix(c.seed ^ (c.positions.kind == PositionKind::kDecode ? 0x6465636f64650000u
                                                                     : 0x72616e646f6d0000u))) {
    if (axis > 0) key_ = mix(key_ + static_cast<uint64_t>(axis));
    if (c.positions.kind == PositionKind::kBoundary)
      listed_ = boundary_positions(first_, drawn_bound(c));
  }

  int64_t operator()(int64_t token) const {
    if (!listed_.empty()) return listed_[static_cast<size_t>(token) % listed_.size()];
    return draw(token, count_);
  }

  // The first of `length` positions in a row.
  int64_t start(int64_t sequence, int64_t length) const {
    const uint64_t taken = static_cast<uint64_t>(std::max<int64_t>(length, 1) - 1);
    return draw(sequence, count_ > taken ? count_ - taken : 1);
  }

 private:
  int64_t draw(int64_t counter, uint64_t count) const {
    __extension__ typedef unsigned __int128 Uint128;
    const Uint128 wide = Uint128{mix(key_ + static_cast<uint64_t>(counter))} * count;
    return first_ + static_cast<int64_t>(wide >> 64);
  }

  int64_t first_;
  uint64_t count_;
  uint64_t key_;
  std::vector<int64_t> listed_;  // of boundary positions, over and over
};

// Axes whose positions are not those of the first.
int64_t drawn_axes(const RopeCase& c) {
  return c.positions.kind == PositionKind::kRandom ? num_axes(c.rope.axes) : 1;
}

// Largest position on any axis; -1 without tokens.
int64_t largest_position(const RopeCase& c) {
  const int64_t tokens = c.num_real_tokens();
  const int64_t possible = largest_possible_position(c);
  if (tokens == 0 || tokens > kDrawLimit || !is_drawn(c)) return possible;
  int64_t largest = 0;
  if (draws_starts(c)) {
    const std::vector<int64_t> positions = positions_of(c);
    return *std::max_element(positions.begin(), positions.end());
  }
  for (int64_t axis = 0; axis < drawn_axes(c); ++axis) {
    const Drawing draw(c, axis);
    for (int64_t t = 0; t < tokens && largest < possible; ++t) largest = std::max(largest, draw(t));
  }
  return largest;
}

void append_explicit(const RopeCase& c, const std::vector<int64_t>& list, int64_t tokens,
                     std::vector<int64_t>* out) {
  const int64_t length = static_cast<int64_t>(list.size());
  const bool per_sequence = c.seq_lens.empty() && length == c.tokens;
  if (length != tokens && !per_sequence) {
    throw ConfigError(fmt::format("{} positions for {} tokens", length, tokens));
  }
  const bool may_be_padding = c.op == Op::kVarlenSplitRope;
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t position = list[t % length];
    out->push_back(may_be_padding && position < 0 ? -1 : position + c.positions.offset);
  }
}

// Tokens in sequences: what lies behind them is padding.
int64_t listed_tokens(const RopeCase& c) {
  if (c.seq_lens.empty()) return c.num_tokens();
  return std::accumulate(c.seq_lens.begin(), c.seq_lens.end(), int64_t{0});
}

}  // namespace

int64_t longest_sequence(const RopeCase& c) {
  return c.seq_lens.empty() ? c.tokens : *std::max_element(c.seq_lens.begin(), c.seq_lens.end());
}

int64_t drawn_bound(const RopeCase& c) {
  if (c.rope.table.rows) return *c.rope.table.rows;
  if (c.max_position || c.rope.seq_len) {
    return std::max(c.max_position.value_or(0), c.rope.seq_len.value_or(0));
  }
  return saturating_add(std::max<int64_t>(1, longest_sequence(c)),
                        std::max<int64_t>(0, c.positions.offset));
}

std::vector<int64_t> boundary_positions(int64_t least, int64_t bound) {
  std::vector<int64_t> positions;
  const auto add = [&](int64_t position) {
    if (position >= least && position < bound) positions.push_back(position);
  };
  for (const int64_t position : {bound - 1, int64_t{0}, int64_t{65536}, int64_t{1}, int64_t{65535},
                                 int64_t{4096}, int64_t{255}, int64_t{4095}, int64_t{257},
                                 int64_t{1000000}, int64_t{256}, int64_t{0}, bound - 1, least})
    add(position);
  for (int bit = 62; bit >= 1; --bit) {
    add(int64_t{1} << bit);
    add((int64_t{1} << bit) - 1);
  }
  if (positions.empty()) positions.push_back(least);
  return positions;
}

int64_t largest_possible_position(const RopeCase& c) {
  if (c.num_real_tokens() == 0) return -1;
  if (is_drawn(c)) return drawn_bound(c) - 1;
  if (c.positions.kind == PositionKind::kSequential) {
    return saturating_add(longest_sequence(c) - 1, c.positions.offset);
  }
  if (c.positions.list.empty()) return -1;
  int64_t largest = *std::max_element(c.positions.list.begin(), c.positions.list.end());
  for (const std::vector<int64_t>& list : c.positions.axis_lists) {
    if (!list.empty()) largest = std::max(largest, *std::max_element(list.begin(), list.end()));
  }
  return saturating_add(largest, c.positions.offset);
}

std::vector<int64_t> positions_of(const RopeCase& c) {
  std::vector<int64_t> positions;
  const int64_t tokens = listed_tokens(c);
  positions.reserve(static_cast<size_t>(c.num_tokens()));
  if (c.positions.kind == PositionKind::kExplicit) {
    append_explicit(c, c.positions.list, tokens, &positions);
  } else if (is_drawn(c) && !draws_starts(c)) {
    const Drawing draw(c);
    for (int64_t t = 0; t < tokens; ++t) positions.push_back(draw(t));
  } else {
    const Drawing draw(c);
    int64_t sequence = 0;
    for (const int64_t length : sequence_lengths_of(c)) {
      const int64_t start = is_drawn(c) ? draw.start(sequence++, length) : c.positions.offset;
      for (int64_t t = 0; t < length; ++t) positions.push_back(start + t);
    }
  }
  positions.resize(static_cast<size_t>(c.num_tokens()), -1);
  return positions;
}

bool draws_starts(const RopeCase& c) {
  return c.op == Op::kVarlenSplitRope && c.positions.kind == PositionKind::kDecode;
}

std::vector<int64_t> sequence_starts_of(const RopeCase& c) {
  const std::vector<int64_t> positions = kernel_positions_of(c);
  std::vector<int64_t> starts;
  size_t first = 0;
  for (const int64_t length : sequence_lengths_of(c)) {
    starts.push_back(length > 0 ? positions[first] : 0);
    first += static_cast<size_t>(length);
  }
  return starts;
}

bool has_sequence_starts(const RopeCase& c) {
  if (c.op != Op::kVarlenSplitRope || c.varlen.source != "cu_seqlens") return false;
  if (c.rope.axes.kind != "none") return c.num_sequences() > 1;
  if (c.positions.kind == PositionKind::kSequential) return c.positions.offset != 0;
  if (c.positions.kind != PositionKind::kExplicit) return true;
  const std::vector<int64_t> starts = sequence_starts_of(c);
  return std::any_of(starts.begin(), starts.end(), [](int64_t start) { return start != 0; });
}

std::vector<std::vector<int64_t>> axis_positions_of(const RopeCase& c) {
  const size_t axes = static_cast<size_t>(num_axes(c.rope.axes));
  std::vector<std::vector<int64_t>> positions(axes, positions_of(c));
  const std::vector<int64_t> first = positions[0];
  const int64_t tokens = listed_tokens(c);
  for (size_t axis = 1; axis < axes; ++axis) {
    if (axis < c.positions.axis_lists.size()) {
      positions[axis].clear();
      append_explicit(c, c.positions.axis_lists[axis], tokens, &positions[axis]);
      positions[axis].resize(first.size(), -1);
    } else if (c.positions.kind == PositionKind::kRandom) {
      const Drawing draw(c, static_cast<int64_t>(axis));
      for (int64_t t = 0; t < tokens; ++t) positions[axis][static_cast<size_t>(t)] = draw(t);
    }
  }
  // A padding token has a row like any other; nobody reads it.
  for (size_t t = 0; t < first.size(); ++t) {
    if (first[t] >= 0) continue;
    for (std::vector<int64_t>& axis : positions) axis[t] = 0;
  }
  return positions;
}

int64_t seq_len_of(const RopeCase& c) {
  if (c.rope.seq_len) return *c.rope.seq_len;
  return std::max<int64_t>(1, saturating_add(largest_position(c), 1));
}

int64_t table_rows_of(const RopeCase& c) {
  if (c.rope.table.rows) return *c.rope.table.rows;
  // Drawn positions stay below max_position where there is one: no need to draw them to know.
  if (is_drawn(c) && c.max_position) return drawn_bound(c);
  return std::max(c.max_position.value_or(0), seq_len_of(c));
}

int64_t kernel_table_rows_of(const RopeCase& c) {
  return c.rope.axes.kind == "none" ? table_rows_of(c) : c.num_tokens();
}

std::vector<int64_t> kernel_positions_of(const RopeCase& c) {
  std::vector<int64_t> positions = positions_of(c);
  if (c.rope.axes.kind == "none") return positions;
  for (size_t t = 0; t < positions.size(); ++t) {
    if (positions[t] >= 0) positions[t] = static_cast<int64_t>(t);
  }
  return positions;
}

int64_t distinct_rows(const RopeCase& c) {
  const int64_t tokens = c.num_real_tokens();
  if (tokens == 0) return 0;
  if (c.rope.axes.kind != "none") return tokens;
  if (c.positions.kind == PositionKind::kSequential) return longest_sequence(c);
  std::vector<int64_t> seen;
  if (c.positions.kind == PositionKind::kExplicit) {
    seen = c.positions.list;
    if (c.op == Op::kVarlenSplitRope) std::erase_if(seen, [](int64_t p) { return p < 0; });
  } else {
    const int64_t bound = std::max<int64_t>(1, drawn_bound(c) - c.positions.offset);
    if (tokens > kDrawLimit) return std::min(tokens, bound);
    const Drawing draw(c);
    if (bound / 64 <= tokens && !draws_starts(c)) {
      std::vector<bool> used(static_cast<size_t>(bound));
      int64_t count = 0;
      for (int64_t t = 0; t < tokens && count < bound; ++t) {
        const size_t row = static_cast<size_t>(draw(t) - c.positions.offset);
        if (!used[row]) ++count;
        used[row] = true;
      }
      return count;
    }
    seen = positions_of(c);
    std::erase_if(seen, [](int64_t position) { return position < 0; });
  }
  std::sort(seen.begin(), seen.end());
  return std::unique(seen.begin(), seen.end()) - seen.begin();
}

}  // namespace rope_bench
