// Bytes that belong to no row are found wherever rows leave them.
#include "src/measure/gaps.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

constexpr std::byte kPattern{0x5a};

RopeCase case_of(Op op) {
  RopeCase c;
  c.op = op;
  c.num_heads = 3;
  c.num_kv_heads = 1;
  c.head_dim = 4;
  c.rope.rotary_dim = 4;
  c.tokens = 5;
  return c;
}

// Elements that count as gaps: found one by one by changing each.
std::vector<int64_t> gaps_of(const OperandBuffer& buffer, const Grid& grid,
                             const std::vector<bool>& written) {
  std::vector<int64_t> gaps;
  std::vector<std::byte> data(static_cast<size_t>(buffer.elements) * 2, kPattern);
  for (int64_t i = 0; i < buffer.elements; ++i) {
    data[static_cast<size_t>(2 * i + 1)] = std::byte{0};
    if (count_changed_gaps(buffer, grid, written, 2, data.data(), {nullptr, kPattern}) == 1)
      gaps.push_back(i);
    data[static_cast<size_t>(2 * i + 1)] = kPattern;
  }
  return gaps;
}

TEST(Gaps, BetweenTokensAndHeads) {
  RopeCase c = case_of(Op::kRope);
  c.layout.q.head_stride = 6;
  c.layout.q.token_stride = 20;
  const Side side = operands_of(c).in;
  const std::vector<int64_t> gaps = gaps_of(side.buffers[0], side.grid, std::vector<bool>(5, true));
  ASSERT_EQ(gaps.size(), 4u * 8 + 4);  // the last row ends the buffer
  EXPECT_EQ((std::vector<int64_t>(gaps.begin(), gaps.begin() + 8)),
            (std::vector<int64_t>{4, 5, 10, 11, 16, 17, 18, 19}));
  EXPECT_TRUE(gaps_of(side.buffers[1], side.grid, std::vector<bool>(5, true)).empty());
}

TEST(Gaps, RowsThatAreNotWritten) {
  RopeCase c = case_of(Op::kVarlenSplitRope);
  c.layout.in_place = false;
  c.seq_lens = {2, 1};
  c.tokens = 3;
  c.varlen.padded_output = true;
  for (const bool heads_outside : {false, true}) {
    c.layout.heads_tokens_dim = heads_outside;
    const Side side = operands_of(c).out;
    ASSERT_EQ(side.grid.num_tokens(), 4);
    const std::vector<int64_t> gaps =
        gaps_of(side.buffers[0], side.grid, {true, true, true, false});
    ASSERT_EQ(gaps.size(), 12u);
    // Row 3 is the second of the second sequence: one run, or one in each head.
    EXPECT_EQ(gaps[0], heads_outside ? 24 + 4 : 36);
    EXPECT_EQ(gaps[4], heads_outside ? 24 + 12 : 40);
  }
}

TEST(Gaps, HoldWhatTheyHeld) {
  const RopeCase c = case_of(Op::kSplitRope);
  const Side side = operands_of(c).in;  // in place
  std::vector<std::byte> before(static_cast<size_t>(side.elements()) * 2);
  for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(i);
  std::vector<std::byte> after = before;
  std::vector<bool> written(5, true);
  written[2] = false;
  after[2 * 2 * 20] ^= std::byte{1};
  after[3 * 2 * 20] ^= std::byte{1};  // a row that is written
  EXPECT_EQ(
      count_changed_gaps(side.buffers[0], side.grid, written, 2, after.data(), {before.data(), {}}),
      1);
}

}  // namespace
}  // namespace rope_bench
