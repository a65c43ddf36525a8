// rope.axes: which axis drives which pair, and where tokens are on each axis.
#include "src/case/axes.h"
#include "src/case/positions.h"
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

using List = std::vector<int64_t>;

RopeCase with_axes(const std::string& axes, int head_dim, const std::string& more = "") {
  return only_case(R"({"model": {"num_heads": 1, "head_dim": )" + std::to_string(head_dim) +
                   R"(}, "rope": {"axes": )" + axes + "}" + (more.empty() ? "" : ", " + more) +
                   "}");
}

// "THW...": the first letter of each pair's axis.
std::string pattern(const std::string& axes, int head_dim) {
  const RopeCase c = with_axes(axes, head_dim, R"("tokens": 1)");
  const std::vector<std::string> names = axis_names(c.rope.axes);
  std::string text;
  for (const uint8_t axis : axis_of_pairs(c)) {
    text += static_cast<char>(names[axis][0] - 'a' + 'A');
  }
  return text;
}

TEST(PositionAxes, C100_C101_InterleavedAndBlocked) {
  EXPECT_EQ(pattern(R"({"kind": "mrope_interleaved", "section": [24, 20, 20]})", 128),
            "THWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTHWTTTT");
  EXPECT_EQ(pattern(R"({"kind": "mrope", "section": [24, 20, 20]})", 128),
            "TTTTTTTTTTTTTTTTTTTTTTTTHHHHHHHHHHHHHHHHHHHHWWWWWWWWWWWWWWWWWWWW");
  EXPECT_EQ(pattern(R"({"kind": "mrope_interleaved", "section": [11, 11, 10]})", 64),
            "THWTHWTHWTHWTHWTHWTHWTHWTHWTHWTH");
}

TEST(PositionAxes, OtherKinds) {
  EXPECT_EQ(pattern(R"({"kind": "ernie", "section": [3, 3, 2]})", 16), "HWHWHWTT");
  EXPECT_EQ(pattern(R"({"kind": "xdrope", "section": [2, 1, 3, 2]})", 16), "PPWHHHTT");
  EXPECT_EQ(pattern(R"({"kind": "vision_2d"})", 16), "HHHHWWWW");
  EXPECT_EQ(pattern(R"({"kind": "vision_2d", "section": [4, 4]})", 16), "HHHHWWWW");
  EXPECT_EQ(pattern(R"({"kind": "mrope", "section": [0, 3, 5]})", 16), "HHHWWWWW");
  EXPECT_TRUE(axis_of_pairs(only_case(config_with(""))).empty());
  expect_error(config_with(R"("rope": {"axes": {"kind": "vision_2d", "section": [12, 20]}})"),
               {"/rope/axes/section", "h 12 and w 20", "rotary_dim 64"});
  expect_error(config_with(R"("rope": {"rotary_dim": 62, "axes": {"kind": "vision_2d"}})"),
               {"h 15 and w 16"});
}

constexpr const char* kMrope = R"({"kind": "mrope", "section": [2, 1, 1]})";

TEST(PositionAxes, TextIsTheSameOnEveryAxis) {
  for (const char* more : {R"("tokens": 3, "position_offset": 5)", R"("positions": [4, 7])",
                           R"("tokens": 3, "positions": "decode")"}) {
    const RopeCase c = with_axes(kMrope, 8, more);
    const std::vector<List> all = axis_positions_of(c);
    ASSERT_EQ(all.size(), 3u);
    for (const List& one : all) EXPECT_EQ(one, positions_of(c)) << more;
  }
}

TEST(PositionAxes, RandomIsDrawnForEachAxis) {
  RopeCase c = with_axes(kMrope, 8, R"("tokens": 100, "positions": "random", "seed": 3)");
  c.rope.table.rows = 1000;
  const std::vector<List> all = axis_positions_of(c);
  EXPECT_EQ(all[0], positions_of(c));
  EXPECT_NE(all[1], all[0]);
  EXPECT_NE(all[2], all[0]);
  EXPECT_NE(all[2], all[1]);
  int64_t largest = 0;
  for (const List& one : all) {
    for (const int64_t position : one) {
      EXPECT_GE(position, 0);
      EXPECT_LT(position, 1000);
      largest = std::max(largest, position);
    }
  }
  EXPECT_EQ(seq_len_of(c), largest + 1);
}

TEST(PositionAxes, ListsForEachAxis) {
  const RopeCase c = with_axes(
      R"({"kind": "mrope", "section": [2, 1, 1], "positions": [[0, 1], [10, 11], [20, 22]]})", 8,
      R"("position_offset": 1)");
  EXPECT_EQ(c.tokens, 2);
  EXPECT_EQ(axis_positions_of(c), (std::vector<List>{{1, 2}, {11, 12}, {21, 23}}));
  EXPECT_EQ(seq_len_of(c), 24);
  EXPECT_EQ(table_rows_of(c), 24);
  // Token t reads row t of a table of as many rows.
  EXPECT_EQ(kernel_table_rows_of(c), 2);
  EXPECT_EQ(kernel_positions_of(c), (List{0, 1}));
  // One sequence's lists serve all of a batch.
  RopeCase batch = c;
  batch.batch = 2;
  EXPECT_EQ(axis_positions_of(batch)[2], (List{21, 23, 21, 23}));
  EXPECT_EQ(kernel_positions_of(batch), (List{0, 1, 2, 3}));
}

TEST(PositionAxes, BadListsAreRefused) {
  const auto refuse = [](const std::string& lists, const std::string& more,
                         const std::vector<std::string>& parts) {
    expect_error(R"({"model": {"num_heads": 1, "head_dim": 8}, "rope": {"axes": {"kind": "mrope",
                     "section": [2, 1, 1], "positions": )" +
                     lists + "}}" + more + "}",
                 parts);
  };
  refuse("[[0], [1]]", "", {"/rope/axes/positions", "3 axes (t, h, w)", "2 lists"});
  refuse("[[0], [1, 2], [3]]", "",
         {"/rope/axes/positions", "2 positions of axis h", "1 of axis t"});
  refuse("[[0], [1], [-3]]", "", {"/rope/axes/positions", "position -3 < 0 at token 0"});
  refuse("[[0], [1], [3]]", R"(, "tokens": 2)", {"/rope/axes/positions", "1 positions for 2"});
  refuse("[[0], [1], [3]]", R"(, "positions": "random")",
         {"/rope/axes/positions", "beside positions"});
  refuse("[0, 1, 3]", "",
         {"/rope/axes/positions/0: 0 is not allowed; allowed: a list of integers"});
  refuse("[[0], [1], [0.5]]", "", {"/rope/axes/positions/2"});
  expect_error(config_with(R"("rope": {"axes": {"positions": [[0]]}})"),
               {"axes positions with axes kind none"});
}

TEST(PositionAxes, ListsOnAnAxis) {
  const LoadedConfig config = parse(
      R"({"model": {"num_heads": 1, "head_dim": 8}, "rope": {"axes": {"kind": "vision_2d",
          "positions": [[[0], [1]], [[2, 3], [4, 5]]]}}})");
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_EQ(config.cases[0].tokens, 1);
  EXPECT_EQ(axis_positions_of(config.cases[1]), (std::vector<List>{{2, 3}, {4, 5}}));
  EXPECT_EQ(parse(config.resolved_json).cases[1].name, config.cases[1].name);
}

}  // namespace
}  // namespace rope_bench::testing
