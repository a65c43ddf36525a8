// Problems of every op in which every pair of features meets, without the product of them all:
// candidates are drawn at random (from a fixed seed) and the one is kept that brings the most pairs
// of levels not seen yet, until none does.
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "tests/kernels/problem_specs.h"

namespace rope_bench::testing {
namespace {

enum Feature {
  kDims,
  kHeads,
  kTokens,
  kBase,
  kGaps,
  kPositions,
  kSequences,
  kLayout,
  kPlace,
  kRotaryOffset,
  kTable,
  kAngles,
  kValues,
  kBias,
  kNorm,
  kWeights,
  kOrder,
  kNumFeatures
};
constexpr int kLevels[kNumFeatures] = {9, 6, 5, 3, 4, 6, 4, 7, 4, 4, 3, 4, 5, 2, 2, 3, 4};
using Levels = std::array<int, kNumFeatures>;

bool is_backward(int op) {
  return op == ROPE_OP_ROPE_BACKWARD || op == ROPE_OP_SPLIT_ROPE_BACKWARD;
}
bool is_split(int op) { return op != ROPE_OP_ROPE && op != ROPE_OP_ROPE_BACKWARD; }

// Nothing where the levels do not go together.
std::optional<ProblemSpec> spec_of(int op, Dtype dtype, Pairing pairing, const Levels& level) {
  constexpr std::pair<int, int> kDimsOf[] = {{8, 8},   {16, 8}, {32, 32}, {48, 24}, {64, 64},
                                             {96, 32}, {6, 6},  {46, 46}, {80, 20}};
  constexpr std::pair<int, int> kHeadsOf[] = {{4, 2}, {1, 1}, {3, 3}, {8, 1}, {6, 2}, {5, 1}};
  constexpr int64_t kTokensOf[] = {0, 1, 2, 7, 17};
  constexpr int kBaseOf[] = {0, 1, 4};
  constexpr std::pair<int, int> kGapsOf[] = {{0, 0}, {24, 0}, {6, 2}, {0, 8}};
  ProblemSpec s;
  s.op = op;
  s.dtype = dtype;
  s.pairing = pairing;
  s.head_dim = kDimsOf[level[kDims]].first;
  s.rotary_dim = kDimsOf[level[kDims]].second;
  s.heads = kHeadsOf[level[kHeads]].first;
  s.kv_heads = kHeadsOf[level[kHeads]].second;
  s.num_tokens = kTokensOf[level[kTokens]];
  s.base_offset = kBaseOf[level[kBase]];
  s.token_gap = kGapsOf[level[kGaps]].first;
  s.head_gap = kGapsOf[level[kGaps]].second;
  s.values = static_cast<Values>(level[kValues]);
  s.table_dtype = static_cast<Dtype>(level[kTable]);
  s.table_rows = 0;  // C125, C126: none behind the last that is needed
  // Offsets and cu_seqlens are 32 bits wide, whatever positions are.
  if (level[kDims] % 2 == 1) s.position_bits = 64;

  switch (level[kPositions]) {
    case 0:
      break;
    case 1:
      s.position_bits = 64;
      break;
    case 2:
      s.position_source = ROPE_POSITIONS_OFFSET;
      break;
    case 3:
    case 4:
      s.position_source = ROPE_POSITIONS_CU_SEQLENS;
      s.sequence_starts = level[kPositions] == 4;
      break;
    case 5:
      // A negative id is padding there alone.
      if (op == ROPE_OP_VARLEN_SPLIT_ROPE) s.padding_every = 3;
      break;
  }
  switch (level[kSequences]) {
    case 0:
      break;
    case 1:
      s.seq_lens = sequences_of(s.num_tokens, false);
      break;
    case 2:
      if (s.position_source == ROPE_POSITIONS_CU_SEQLENS && s.num_tokens > 2) s.skipped = 2;
      s.seq_lens = sequences_of(s.num_tokens - s.skipped, true);
      break;
    case 3:
      s.seq_lens = {s.num_tokens};
      break;
  }
  const bool may_pad = op == ROPE_OP_VARLEN_SPLIT_ROPE || s.position_source != ROPE_POSITIONS_IDS;
  if (!may_pad) s.seq_lens = {s.num_tokens};
  // [B, S, H, d], [B, H, S, d], from one to the other, padded by either means.
  s.in_place = level[kPlace] < 2;
  s.packed = level[kPlace] % 2 == 1;
  switch (level[kLayout]) {
    case 0:
      break;
    case 1:
      s.batch_tokens = 4;
      break;
    case 2:
      s.batch_tokens = 4;
      s.heads_major = s.out_heads_major = true;
      break;
    case 3:
      s.heads_major = s.out_heads_major = s.in_place;
      s.out_heads_major = true;
      break;
    case 4:
      s.batch_tokens = 4;
      s.heads_major = true;
      s.out_heads_major = s.in_place;
      break;
    case 5:
      s.padded = Padded::kOutRows;
      s.out_heads_major = level[kBase] == 0;
      break;
    case 6:
      s.padded = Padded::kBySequence;
      s.out_heads_major = level[kBase] != 0;
      break;
  }
  if (s.padded != Padded::kNo && (s.in_place || s.seq_lens.empty())) return {};
  if (s.padded == Padded::kBySequence && s.position_source != ROPE_POSITIONS_CU_SEQLENS) return {};

  const int room = s.head_dim - s.rotary_dim;
  switch (level[kRotaryOffset]) {
    case 0:
      break;
    case 1:  // C015: a slice in the middle
      if (room == 0) return {};
      s.q_rotary_offset = s.k_rotary_offset = room / 4 * 2;
      break;
    case 2:  // one tensor's own
      if (room == 0) return {};
      s.k_rotary_offset = room;
      break;
    case 3:  // C029: behind head_dim, as in MLA
      if (level[kBias] != 0 || op == ROPE_OP_NORM_SPLIT_ROPE) return {};
      s.q_rotary_offset = 2 * s.head_dim;
      break;
  }
  switch (level[kAngles]) {
    case 0:
      break;
    case 1:
      s.attention_factor = 1.25f;  // C121: the gradient is multiplied by it too
      break;
    case 2:
      s.reversed = true;
      break;
    case 3:
      if (s.position_source != ROPE_POSITIONS_IDS) return {};
      s.axes = 3;
      break;
  }
  s.bias = level[kBias] == 1;
  if (s.bias && (!is_split(op) || is_backward(op))) return {};

  if (op == ROPE_OP_NORM_SPLIT_ROPE) {
    s.norm = level[kNorm] == 0 ? ROPE_NORM_HEAD : ROPE_NORM_ROW;
    s.norm_weights = level[kWeights] != 0;
    s.weight_offset = level[kWeights] == 2 ? 1 : 0;
    s.norm_after = level[kOrder] % 2 == 1;
    s.round_between = level[kOrder] >= 2;
  } else if (level[kNorm] != 0 || level[kWeights] != 0 || level[kOrder] != 0 ||
             s.values == Values::kHuge || s.values == Values::kTiny) {
    return {};
  }
  return s;
}

class PairwiseSpecs {
 public:
  PairwiseSpecs(int op, Dtype dtype, Pairing pairing) : op_(op), dtype_(dtype), pairing_(pairing) {
    random_.seed(
        static_cast<uint32_t>(op * 100 + static_cast<int>(dtype) * 10 + static_cast<int>(pairing)));
  }

  void append_to(std::vector<ProblemSpec>& specs) {
    constexpr int kCandidates = 40, kPatience = 50;
    for (int without = 0; without < kPatience;) {
      std::set<int> best;
      std::optional<ProblemSpec> best_spec;
      for (int i = 0; i < kCandidates; ++i) {
        const Levels levels = draw();
        std::optional<ProblemSpec> spec = spec_of(op_, dtype_, pairing_, levels);
        if (!spec) continue;
        std::set<int> pairs = new_pairs(levels);
        if (pairs.size() <= best.size()) continue;
        best = std::move(pairs);
        best_spec = std::move(spec);
      }
      without = best_spec ? 0 : without + 1;
      if (!best_spec) continue;
      seen_.insert(best.begin(), best.end());
      specs.push_back(*best_spec);
    }
  }

 private:
  Levels draw() {
    Levels levels{};
    for (size_t f = 0; f < kNumFeatures; ++f)
      levels[f] = static_cast<int>(random_() % static_cast<uint32_t>(kLevels[f]));
    if (op_ != ROPE_OP_NORM_SPLIT_ROPE) levels[kNorm] = levels[kWeights] = levels[kOrder] = 0;
    return levels;
  }

  std::set<int> new_pairs(const Levels& levels) const {
    std::set<int> pairs;
    for (int f = 0; f < kNumFeatures; ++f) {
      for (int g = 0; g < f; ++g) {
        const int pair = ((f * kNumFeatures + g) * 16 + levels[static_cast<size_t>(f)]) * 16 +
                         levels[static_cast<size_t>(g)];
        if (seen_.count(pair) == 0) pairs.insert(pair);
      }
    }
    return pairs;
  }

  int op_;
  Dtype dtype_;
  Pairing pairing_;
  std::mt19937 random_;
  std::set<int> seen_;
};

}  // namespace

std::vector<int64_t> sequences_of(int64_t tokens, bool behind) {
  const int64_t used = behind && tokens > 2 ? tokens - 2 : tokens;
  const int64_t first = used > 3 ? used / 3 : 0;
  const int64_t second = used > first ? 1 : 0;
  return {0, first, second, 0, used - first - second};
}

const std::vector<ProblemSpec>& op_specs(int op) {
  static std::map<int, std::vector<ProblemSpec>> made;
  const auto [found, is_new] = made.try_emplace(op);
  if (!is_new) return found->second;
  for (const Dtype dtype : kAllDtypes) {
    for (const Pairing pairing : kBothPairings)
      PairwiseSpecs(op, dtype, pairing).append_to(found->second);
  }
  return found->second;
}

std::vector<ProblemSpec> many_sequences_specs() {
  struct Shape {
    int count, length, head_dim;
  };
  // Around what a warp looks at together once, twice and three times. With small heads a warp has
  // tokens of many sequences, or many of one, with large ones a part of a token.
  constexpr Shape kShapes[] = {{1, 1, 32},  {30, 1, 32},   {31, 1, 32},   {32, 1, 32},
                               {33, 1, 32}, {1022, 1, 32}, {1023, 1, 32}, {1025, 1, 32},
                               {3, 20, 32}, {40, 2, 32},   {31, 2, 256},  {33, 2, 256}};
  std::vector<ProblemSpec> specs;
  for (const Shape& shape : kShapes) {
    // Half of them with padding in front, half with padding behind.
    for (const bool starts : {false, true}) {
      ProblemSpec s;
      s.op = ROPE_OP_VARLEN_SPLIT_ROPE;
      s.dtype = Dtype::kF16;
      s.heads = s.kv_heads = 1;
      s.head_dim = s.rotary_dim = shape.head_dim;
      s.in_place = starts;
      s.packed = true;
      s.position_source = ROPE_POSITIONS_CU_SEQLENS;
      s.sequence_starts = starts;
      s.skipped = starts ? 2 : 0;
      s.num_tokens = starts ? 2 : 3;
      for (int i = 0; i < shape.count; ++i) {
        const bool empty = shape.count > 1 && (i == 0 || i + 1 == shape.count || i % 7 == 3);
        s.seq_lens.push_back(empty ? 0 : shape.length);
        s.num_tokens += s.seq_lens.back();
      }
      s.table_rows = 0;
      specs.push_back(s);
    }
  }
  return specs;
}

std::vector<ProblemSpec> all_op_specs() {
  std::vector<ProblemSpec> all;
  for (int op = ROPE_OP_ROPE; op <= ROPE_OP_SPLIT_ROPE_BACKWARD; ++op)
    all.insert(all.end(), op_specs(op).begin(), op_specs(op).end());
  return all;
}

}  // namespace rope_bench::testing
