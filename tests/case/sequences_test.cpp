// Sequences of unequal length: positions, padding tokens, where outputs go, and what each source of
// positions can say.
#include "src/case/positions.h"
#include "src/case/token_rows.h"
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

using Ints = std::vector<int64_t>;

std::string varlen(const std::string& more) {
  return R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8, "max_position": 64},
             "op": "varlen_split_rope", )" +
         more + "}";
}

TokenRows rows(const std::string& more) { return token_rows_of(only_case(varlen(more))); }

TEST(Sequences, EmptyOnesCount) {  // C049, C125
  EXPECT_EQ(rows(R"("seq_lens": [3, 0, 5])").table_rows, (Ints{0, 1, 2, 0, 1, 2, 3, 4}));
  EXPECT_EQ(rows(R"("seq_lens": [2, 3], "rope": {"table": {"rows": 3}},
                    "varlen": {"max_seqlen": 8192})")
                .table_rows,
            (Ints{0, 1, 0, 1, 2}));
  const RopeCase none = only_case(varlen(R"("seq_lens": [0, 0])"));
  EXPECT_EQ(none.num_tokens(), 0);
  EXPECT_EQ(none.num_sequences(), 2);
  EXPECT_EQ(bytes_of(none).total(), 0);
}

TEST(Sequences, TokensBehindThemArePadding) {  // C124
  const RopeCase c = only_case(varlen(R"("seq_lens": [1, 3], "tokens": 6)"));
  EXPECT_EQ(c.num_tokens(), 6);
  EXPECT_EQ(c.num_real_tokens(), 4);
  EXPECT_EQ(token_rows_of(c).table_rows, (Ints{0, 0, 1, 2, -1, -1}));
  EXPECT_EQ(token_rows_of(c).out_rows, (Ints{0, 1, 2, 3, -1, -1}));
  const RopeCase without = only_case(varlen(R"("seq_lens": [1, 3])"));
  EXPECT_EQ(bytes_of(c).total(), bytes_of(without).total());
  expect_error(varlen(R"("seq_lens": [1, 3], "tokens": 3)"),
               {"/tokens", "tokens 3 is below 4, the sum of seq_lens"});
  expect_error(R"({"model": {"num_heads": 4, "head_dim": 8}, "seq_lens": [1, 3], "tokens": 6})",
               {"/tokens", "padding tokens belong to op varlen_split_rope"});
}

TEST(Sequences, ListedPaddingMayBeAnywhere) {
  const std::string list = R"("seq_lens": [2, 3], "positions": [-1, 4, 5, -1, 7],
                              "varlen": {"source": "position_ids", "output": "padded"})";
  const RopeCase c = only_case(varlen(list));
  EXPECT_EQ(c.num_real_tokens(), 3);
  EXPECT_EQ(token_rows_of(c).table_rows, (Ints{-1, 4, 5, -1, 7}));
  EXPECT_EQ(token_rows_of(c).out_rows, (Ints{-1, 1, 3, -1, 5}));
  EXPECT_EQ(bytes_of(c).table, 3 * 8 * 4);
  // Of other ops a negative position is one outside the table.
  expect_error(config_with(R"("positions": [-1, 4, 5, 6])"), {"position -1 < 0 at token 0"});
}

TEST(Sequences, PaddedOutputsHaveARowForEveryPlace) {  // C126
  EXPECT_EQ(rows(R"("seq_lens": [2, 0, 3], "varlen": {"output": "padded"})").out_rows,
            (Ints{0, 1, 6, 7, 8}));
  const RopeCase c = only_case(varlen(R"("seq_lens": [16], "rope": {"table": {"rows": 16}},
                          "varlen": {"output": "padded", "max_seqlen": 128})"));
  EXPECT_EQ(padded_length_of(c), 128);
  EXPECT_EQ(token_rows_of(c).out_rows.back(), 15);
  EXPECT_TRUE(c.layout.heads_tokens_dim);
  EXPECT_FALSE(only_case(varlen(R"("tokens": 2, "varlen": {"output": "padded"},
                                   "layout": {"order": "tokens_heads_dim"})"))
                   .layout.heads_tokens_dim);
  expect_error(varlen(R"("seq_lens": [16], "varlen": {"output": "padded", "max_seqlen": 15})"),
               {"max_seqlen 15 is below 16"});
  expect_error(varlen(R"("tokens": 3, "varlen": {"output": "padded"},
                         "layout": {"in_place": true})"),
               {"padded output cannot be in place"});
}

TEST(Sequences, StartFromAnOffsetOrASeededLength) {
  const RopeCase offset = only_case(varlen(R"("seq_lens": [2, 1], "position_offset": 10)"));
  EXPECT_EQ(token_rows_of(offset).table_rows, (Ints{10, 11, 10}));
  EXPECT_EQ(sequence_starts_of(offset), (Ints{10, 10}));
  EXPECT_TRUE(has_sequence_starts(offset));
  EXPECT_FALSE(has_sequence_starts(only_case(varlen(R"("seq_lens": [2, 1])"))));

  const RopeCase decode =
      only_case(varlen(R"("seq_lens": [3, 0, 2, 4], "positions": "decode", "seed": 3)"));
  const Ints positions = positions_of(decode);
  const Ints starts = sequence_starts_of(decode);
  EXPECT_NE(starts[0], starts[2]);
  EXPECT_EQ(positions[0], starts[0]);
  EXPECT_EQ(positions[2], starts[0] + 2);
  EXPECT_EQ(positions[4], starts[2] + 1);
  EXPECT_EQ(positions[8], starts[3] + 3);
  for (const int64_t position : positions) EXPECT_LT(position, 64);
  // Sequences of one token are those of decode in any other op.
  const std::string one = R"("seq_lens": [1, 1, 1], "positions": "decode")";
  const RopeCase rope =
      only_case(R"({"model": {"num_heads": 4, "head_dim": 8, "max_position": 64}, )" + one + "}");
  EXPECT_EQ(positions_of(only_case(varlen(one))), positions_of(rope));
  expect_error(varlen(R"("seq_lens": [65], "positions": "decode")"),
               {"a sequence of 65 tokens from position 0 on does not fit 64 rows"});
}

TEST(Sequences, CuSeqlensKnowOneStartPerSequence) {  // C122
  const std::string ranks = R"("seq_lens": [4, 4], "rope": {"table": {"rows": 8}}, "positions": )";
  expect_error(varlen(ranks + "[0, 3, 4, 7, 0, 3, 4, 7]"),
               {"/positions: position 3 follows 0 at token 1", "cu_seqlens", "position_ids"});
  expect_error(varlen(ranks + "\"random\""), {"random positions, but cu_seqlens"});
  const std::string ids = R"(, "varlen": {"source": "position_ids"})";
  EXPECT_EQ(rows(ranks + "[0, 3, 4, 7, 0, 3, 4, 7]" + ids).table_rows,
            (Ints{0, 3, 4, 7, 0, 3, 4, 7}));
  EXPECT_EQ(rows(ranks + "[1, 2, 3, 4, 0, 1, 2, 3]").table_rows, (Ints{1, 2, 3, 4, 0, 1, 2, 3}));
}

TEST(Sequences, Int32SourcesAreLimited) {
  const std::string many = R"("tokens": 2147483648, "rope": {"table": {"rows": 4294967296}})";
  expect_error(varlen(many), {"/tokens: 2147483648 tokens of 1 sequences: cu_seqlens is int32"});
  expect_error(varlen(many + R"(, "varlen": {"source": "padding_offset"})"),
               {"padding_offset is int32"});
  EXPECT_EQ(error_of(varlen(many + R"(, "varlen": {"source": "position_ids"})")), "no error");
  expect_error(varlen(R"("tokens": 4, "position_dtype": "int64")"),
               {"/position_dtype", "position_dtype int64 with varlen.source cu_seqlens"});
  expect_error(varlen(R"("seq_lens": [1, 1, 1], "varlen": {"output": "padded",
                         "max_seqlen": 2000000000})"),
               {"/varlen/output", "a padded output of 3 x 2000000000 rows"});
}

TEST(Sequences, AHundredThousandOfThem) {
  std::string lengths = "0";
  for (int i = 1; i < 100000; ++i) lengths += i % 3 == 0 ? ",0" : ",2";
  const RopeCase c = only_case(varlen("\"seq_lens\": [" + lengths + "]"));
  EXPECT_EQ(c.num_sequences(), 100000);
  EXPECT_EQ(c.num_tokens(), 2 * 66666);
  EXPECT_EQ(bytes_of(c).positions, 100001 * 4);
}

TEST(Sequences, RowsOfPositionAxesGoOnFromSequenceToSequence) {
  const RopeCase c = only_case(varlen(
      R"("seq_lens": [2, 1], "tokens": 4, "positions": "random",
         "rope": {"axes": {"kind": "mrope", "section": [2, 1, 1]}})"));
  EXPECT_EQ(token_rows_of(c).table_rows, (Ints{0, 1, 2, -1}));
  EXPECT_EQ(sequence_starts_of(c), (Ints{0, 2}));
}

}  // namespace
}  // namespace rope_bench::testing
