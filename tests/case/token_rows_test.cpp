// Where tokens are read from and written to.
#include "src/case/token_rows.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

using Rows = std::vector<int64_t>;

RopeCase sequences(const Rows& lengths) {
  RopeCase c;
  c.op = Op::kVarlenSplitRope;
  c.varlen.given = true;
  c.seq_lens = lengths;
  c.head_dim = c.rope.rotary_dim = 4;
  c.num_heads = c.num_kv_heads = 1;
  return c;
}

TEST(TokenRows, OfSequencesPackedAndPadded) {
  RopeCase c = sequences({2, 0, 1, 3});
  c.positions.offset = 10;
  TokenRows rows = token_rows_of(c);
  EXPECT_EQ(rows.table_rows, Rows({10, 11, 10, 10, 11, 12}));
  EXPECT_EQ(rows.out_rows, Rows({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rows.sequence_tokens, 6);
  c.varlen.padded_output = true;
  rows = token_rows_of(c);
  EXPECT_EQ(rows.out_rows, Rows({0, 1, 6, 9, 10, 11}));
}

TEST(TokenRows, OfBatches) {
  RopeCase c = sequences({});
  c.op = Op::kRope;
  c.batch = 2;
  c.tokens = 2;
  const TokenRows rows = token_rows_of(c);
  EXPECT_EQ(rows.table_rows, Rows({0, 1, 0, 1}));
  EXPECT_EQ(rows.out_rows, Rows({0, 1, 2, 3}));
  EXPECT_EQ(rows.sequence_tokens, 4);
}

// With axes a row of the table is a token's own.
TEST(TokenRows, WithAxes) {
  RopeCase c = sequences({2, 1});
  c.rope.axes.kind = "mrope";
  EXPECT_EQ(token_rows_of(c).table_rows, Rows({0, 1, 2}));
}

TEST(TokenRows, OfNothing) {
  const TokenRows rows = token_rows_of(sequences({0, 0}));
  EXPECT_TRUE(rows.table_rows.empty());
  EXPECT_EQ(rows.sequence_tokens, 0);
}

}  // namespace
}  // namespace rope_bench
