// Positions of every token, and positions that no table holds.
#include <algorithm>
#include <set>

#include "src/case/positions.h"
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

using List = std::vector<int64_t>;

std::string with_positions(const std::string& more) {
  return R"({"model": {"num_heads": 2, "head_dim": 4)" + more;
}

TEST(Positions, SequentialRestartsPerSequence) {  // C031, C049
  EXPECT_EQ(positions_of(only_case(with_positions(R"(, "batch": 2}, "tokens": 3})"))),
            (List{0, 1, 2, 0, 1, 2}));
  const RopeCase varlen = only_case(with_positions(R"(}, "seq_lens": [3, 0, 5]})"));
  EXPECT_EQ(varlen.num_tokens(), 8);
  EXPECT_EQ(positions_of(varlen), (List{0, 1, 2, 0, 1, 2, 3, 4}));
  EXPECT_EQ(seq_len_of(varlen), 5);
  EXPECT_EQ(table_rows_of(varlen), 5);
  EXPECT_EQ(positions_of(only_case(with_positions(R"(}, "tokens": 3, "position_offset": 7})"))),
            (List{7, 8, 9}));
  EXPECT_EQ(positions_of(only_case(with_positions(R"(}, "seq_lens": [0, 2, 1]})"))),
            (List{0, 1, 0}));
}

TEST(Positions, ExplicitListsSayTheTokenCount) {  // C051
  const RopeCase c = only_case(with_positions(R"(}, "positions": [5, 6, 7, 8]})"));
  EXPECT_EQ(c.num_tokens(), 4);
  EXPECT_EQ(positions_of(c), (List{5, 6, 7, 8}));
  EXPECT_EQ(table_rows_of(c), 9);
  // One list per sequence, or one for all tokens.
  EXPECT_EQ(positions_of(
                only_case(with_positions(R"(, "batch": 2}, "tokens": 2, "positions": [4, 1]})"))),
            (List{4, 1, 4, 1}));
  EXPECT_EQ(positions_of(only_case(
                with_positions(R"(, "batch": 2}, "tokens": 2, "positions": [4, 1, 0, 2]})"))),
            (List{4, 1, 0, 2}));
  EXPECT_EQ(
      positions_of(only_case(with_positions(R"(}, "positions": [-2, 1], "position_offset": 3})"))),
      (List{1, 4}));
  expect_error(with_positions(R"(}, "tokens": 6, "positions": [0, 1, 2]})"),
               {"/positions", "3 positions for 6 tokens"});
  expect_error(with_positions(R"(, "batch": 2}, "tokens": 2, "positions": [0, 1, 2]})"),
               {"3 positions for 4 tokens", "2 sequences of 2"});
  expect_error(with_positions(R"(}, "seq_lens": [2, 2], "positions": [0, 1]})"),
               {"2 positions for 4 tokens"});
  // Two rows of three are two alternatives of three tokens, not six tokens.
  const LoadedConfig rows =
      parse(with_positions(R"(}, "tokens": 6, "positions": [[0, 1, 2], [3, 4, 5]]})"));
  ASSERT_EQ(rows.cases.size(), 2u);
  EXPECT_EQ(rows.cases[0].skip_reason, "3 positions for 6 tokens");
  EXPECT_EQ(only_case(with_positions(R"(}, "positions": []})")).num_tokens(), 0);
}

TEST(Positions, OutsideTheTableIsRefused) {
  struct Row {
    const char* text;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      // C052
      {R"(}, "positions": [15, 16, 17], "rope": {"table": {"rows": 16}}})",
       {"/positions", "position 16 >= 16 rows at token 1"}},
      {R"(, "max_position": 40960}, "positions": [40960], "rope": {"table": {"rows": 40960}}})",
       {"position 40960 >= 40960 rows at token 0"}},
      // C058
      {R"(}, "tokens": 10, "position_offset": 4090, "rope": {"table": {"rows": 4096}}})",
       {"/position_offset", "position 4096 >= 4096 rows at token 6", "needs 4100 rows"}},
      // C126
      {R"(}, "tokens": 128, "rope": {"table": {"rows": 16}}})",
       {"position 16 >= 16 rows at token 16"}},
      {R"(, "batch": 3}, "tokens": 5, "rope": {"table": {"rows": 4}}})",
       {"position 4 >= 4 rows at token 4"}},
      {R"(}, "seq_lens": [2, 0, 5, 9], "rope": {"table": {"rows": 4}}})",
       {"position 4 >= 4 rows at token 6"}},
      {R"(}, "tokens": 5, "rope": {"seq_len": 3}})", {"position 3 >= 3 rows at token 3"}},
      {R"(}, "positions": [3, -1]})", {"/positions", "position -1 < 0 at token 1"}},
      {R"(}, "tokens": 2, "position_offset": -1})", {"position -1 < 0 at token 0"}},
      {R"(}, "positions": [9223372036854775807], "position_offset": 1})", {"position"}},
      {R"(}, "tokens": 2, "positions": "random", "position_offset": -1})",
       {"position_offset -1 < 0"}},
      {R"(, "max_position": 8}, "tokens": 2, "positions": "decode", "position_offset": 8})",
       {"position_offset 8 >= 8 rows"}},
      // C056: what int32 cannot hold is refused, not cut off.
      {R"(}, "positions": [5, 2147483648], "position_dtype": "int32"})",
       {"position 2147483648 at token 1 does not fit position_dtype int32"}},
      {R"(}, "tokens": 3, "position_offset": 2147483646, "position_dtype": "int32"})",
       {"position 2147483648 at token 2 does not fit position_dtype int32"}},
      {R"(, "max_position": 4294967296}, "tokens": 3, "positions": "random",
          "position_dtype": "int32"})",
       {"do not fit position_dtype int32"}},
  };
  for (const Row& row : rows) expect_error(with_positions(row.text), row.parts);
  const RopeCase wide =
      only_case(with_positions(R"(}, "positions": [5, 2147483648], "position_dtype": "int64"})"));
  EXPECT_EQ(positions_of(wide), (List{5, 2147483648}));
  EXPECT_EQ(table_rows_of(wide), 2147483649);
}

TEST(Positions, TableGrowsByItself) {  // C052, C059
  const RopeCase c =
      only_case(with_positions(R"(, "max_position": 40960}, "positions": [40960]})"));
  EXPECT_EQ(table_rows_of(c), 40961);
  EXPECT_EQ(seq_len_of(c), 40961);
  const LoadedConfig sweep =
      parse(with_positions(R"(, "max_position": [2048, 65536]}, "positions": [[65535], [0]]})"));
  ASSERT_EQ(sweep.cases.size(), 4u);
  EXPECT_EQ(table_rows_of(sweep.cases[0]), 65536);
  EXPECT_EQ(table_rows_of(sweep.cases[1]), 2048);
  EXPECT_EQ(table_rows_of(sweep.cases[2]), 65536);
  Overrides overrides;
  overrides.seq_len = 100;
  EXPECT_EQ(table_rows_of(only_case(with_positions(R"(}, "tokens": 3})"), overrides)), 100);
}

TEST(Positions, DrawnOnesAreSeededAndBelowTheTable) {
  for (const char* kind : {"random", "decode"}) {
    const auto text = [&](int seed) {
      return with_positions(
          R"(, "max_position": 1000, "batch": 5}, "tokens": 200, "positions": ")" +
          std::string(kind) + R"(", "position_offset": 10, "seed": )" + std::to_string(seed) + "}");
    };
    const List one = positions_of(only_case(text(1)));
    ASSERT_EQ(one.size(), 1000u);
    EXPECT_EQ(one, positions_of(only_case(text(1))));
    EXPECT_NE(one, positions_of(only_case(text(2))));
    const auto [least, most] = std::minmax_element(one.begin(), one.end());
    EXPECT_GE(*least, 10);
    EXPECT_LT(*least, 30);  // all of the range is reached
    EXPECT_LT(*most, 1000);
    EXPECT_GT(*most, 980);
    EXPECT_GT(std::set<int64_t>(one.begin(), one.end()).size(), 550u);  // 990 (1 - 1/e) = 626
    EXPECT_EQ(table_rows_of(only_case(text(1))), 1000);
  }
  // The same bytes on every machine: SplitMix64, worked out by hand in Python.
  EXPECT_EQ(positions_of(only_case(with_positions(
                R"(, "max_position": 4096}, "tokens": 4, "positions": "random", "seed": 42})"))),
            (List{3719, 2491, 714, 2162}));
  EXPECT_EQ(positions_of(only_case(with_positions(
                R"(, "max_position": 4096}, "tokens": 4, "positions": "decode", "seed": 42})"))),
            (List{2039, 98, 944, 1442}));
}

// C188: short prompts alone hide what is wrong further on.
TEST(Positions, BoundaryOnesReachEveryEnd) {
  const auto config = [](const char* model, const char* more) {
    return only_case(
        with_positions(std::string(model) + R"(, "positions": "boundary")" + more + "}"));
  };
  const RopeCase c = config(R"(, "max_position": 131072}, "tokens": 64)", "");
  const List list = positions_of(c);
  // The first ones matter most: a case of few tokens has these.
  EXPECT_EQ(List(list.begin(), list.begin() + 9),
            (List{131071, 0, 65536, 1, 65535, 4096, 255, 4095, 257}));
  const std::set<int64_t> seen(list.begin(), list.end());
  for (int64_t power = 2; power < 131072; power *= 2) {
    EXPECT_TRUE(seen.contains(power)) << power;
    EXPECT_TRUE(seen.contains(power - 1)) << power;
  }
  EXPECT_FALSE(std::is_sorted(list.begin(), list.end()));
  EXPECT_LT(seen.size(), list.size());  // repeated
  EXPECT_EQ(*seen.rbegin(), 131071);
  EXPECT_EQ(table_rows_of(c), 131072);
  EXPECT_EQ(distinct_rows(c), static_cast<int64_t>(seen.size()));

  const List million = positions_of(config(R"(, "max_position": 4096}, "tokens": 64)",
                                           R"(, "rope": { "table": { "rows": 1048577 } })"));
  for (const int64_t position : {1000000, 1048576, 1048575})
    EXPECT_TRUE(std::count(million.begin(), million.end(), position)) << position;

  // From position_offset on; below it and behind the table lies nothing.
  const List few = positions_of(
      config(R"(, "max_position": 258}, "tokens": 40)", R"(, "position_offset": 250)"));
  EXPECT_EQ(std::set<int64_t>(few.begin(), few.end()), (std::set<int64_t>{250, 255, 256, 257}));
  EXPECT_EQ(positions_of(config(R"(}, "tokens": 1)", "")), List{0});
}

TEST(Positions, DrawnOnesWithoutAnyMaximum) {
  const RopeCase c = only_case(with_positions(R"(}, "tokens": 100, "positions": "random"})"));
  const List list = positions_of(c);
  const int64_t largest = *std::max_element(list.begin(), list.end());
  EXPECT_LT(largest, 100);
  EXPECT_EQ(seq_len_of(c), largest + 1);
  EXPECT_EQ(table_rows_of(c), largest + 1);
  // Shapes that no machine holds are described without drawing every position.
  const RopeCase huge = only_case(with_positions(
      R"(, "max_position": 4096}, "tokens": 1000000000000, "positions": "decode"})"));
  EXPECT_EQ(table_rows_of(huge), 4096);
  EXPECT_EQ(bytes_of(huge).table, 4096 * 4 * 4);
}

TEST(Positions, BatchBesideSeqLensIsRefused) {
  expect_error(with_positions(R"(, "batch": 2}, "seq_lens": [1, 2]})"),
               {"/model/batch", "batch 2 with seq_lens"});
}

}  // namespace
}  // namespace rope_bench::testing
