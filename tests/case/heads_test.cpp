// Head counts and shapes that do not fit.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(Heads, RatiosThatDivide) {
  struct Row {
    const char* model;
    int64_t heads, kv_heads;
  };
  const Row rows[] = {
      {R"("num_heads": 71, "num_kv_heads": 1, "head_dim": 64)", 71, 1},
      {R"("num_heads": 15, "num_kv_heads": 5, "head_dim": 64)", 15, 5},
      {R"("num_heads": 14, "gqa_ratio": 7, "head_dim": 64)", 14, 2},
      {R"("num_heads": 32, "gqa_ratio": 1, "head_dim": 64)", 32, 32},
      {R"("num_heads": 32, "num_kv_heads": null, "head_dim": 64)", 32, 32},
  };
  for (const Row& row : rows) {
    const RopeCase c = only_case(config_of_model(row.model));
    EXPECT_EQ(c.num_heads, row.heads);
    EXPECT_EQ(c.num_kv_heads, row.kv_heads);
  }
}

TEST(Heads, KvHeadsMustDivide) {  // C039
  struct Row {
    const char* model;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {R"("num_heads": 6, "num_kv_heads": 4, "head_dim": 64)",
       {"t.json:1:44: /model/num_kv_heads", "num_kv_heads 4", "num_heads 6"}},
      {R"("num_heads": 4, "num_kv_heads": 6, "head_dim": 64)", {"num_kv_heads 6", "num_heads 4"}},
      {R"("num_heads": 4, "num_kv_heads": 0, "head_dim": 64)",
       {"/model/num_kv_heads: 0", "an integer from 1"}},
      {R"("num_heads": 0, "head_dim": 64)", {"/model/num_heads: 0", "an integer from 1"}},
      {R"("num_heads": 8, "gqa_ratio": 3, "head_dim": 64)", {"gqa_ratio 3", "num_heads 8"}},
      {R"("num_heads": 8, "gqa_ratio": 2, "num_kv_heads": 4, "head_dim": 64)",
       {"/model/num_kv_heads", "together with /model/gqa_ratio"}},
      {R"("num_heads": 8, "head_dim": 65)", {"/model/head_dim: 65", "even integer"}},
      {R"("num_heads": 8, "head_dim": 0)", {"/model/head_dim: 0"}},
      {R"("num_heads": 4294967296, "head_dim": 64)", {"/model/num_heads", "2147483647"}},
      {R"("num_heads": 8, "head_dim": 64, "batch": 0)", {"/model/batch: 0", "from 1"}},  // C049
  };
  for (const Row& row : rows) expect_error(config_of_model(row.model), row.parts);
}

TEST(Heads, ShapesBeyond64BitsAreRefusedNotWrapped) {
  const auto text = [](const char* tokens, const char* batch) {
    return std::string(R"({"model": {"num_heads": 64, "head_dim": 128, "batch": )") + batch +
           R"(}, "tokens": )" + tokens + "}";
  };
  expect_error(text("4611686018427387904", "1"), {"/tokens", "2^63 bytes", "64 heads"});
  expect_error(text("4611686018427387904", "4"), {"2^63 tokens"});
  expect_error(text("9223372036854775807", "1"), {"/tokens: 9223372036854775807"});
  expect_error(text("99999999999999999999", "1"), {"/tokens"});
  expect_error(config_with(R"("layout": {"q": {"token_stride": 4611686018427387904}})"),
               {"2^63 bytes"});
  // Beyond 2^31 elements is ordinary (C044), and nothing here costs time or memory for it.
  const RopeCase c = only_case(text("262145", "1"));
  EXPECT_EQ(extent_of(c, c.layout.q, c.num_heads).elements, int64_t{262145} * 8192);
  const RopeCase large = only_case(text("1000000000000", "1"));
  EXPECT_EQ(large.positions.bits, 64);
  EXPECT_EQ(bytes_of(large).table, int64_t{1000000000000} * 128 * 4);
  // On an axis it is a skipped row beside the others.
  const LoadedConfig axis = parse(text("[1, 4611686018427387904]", "1"));
  ASSERT_EQ(axis.cases.size(), 2u);
  EXPECT_EQ(axis.cases[0].skip_reason, "");
  expect_parts(axis.cases[1].skip_reason, {"2^63 bytes"});
}

TEST(Heads, ZeroTokensIsLegal) {  // C049
  const RopeCase none = only_case(R"({"model": {"num_heads": 8, "head_dim": 64}, "tokens": 0})");
  EXPECT_EQ(none.num_tokens(), 0);
  EXPECT_EQ(bytes_of(none).total(), 0);
  EXPECT_EQ(extent_of(none, none.layout.q, 8).elements, 0);
  EXPECT_TRUE(positions_of(none).empty());
  EXPECT_EQ(seq_len_of(none), 1);
  const RopeCase empty =
      only_case(R"({"model": {"num_heads": 8, "head_dim": 64}, "seq_lens": [0, 0]})");
  EXPECT_EQ(empty.num_tokens(), 0);
  EXPECT_TRUE(positions_of(empty).empty());
}

TEST(Heads, TwoPairingsInOneRun) {  // C005
  const LoadedConfig config = parse(config_with(
      R"("cases": [{"name": "a", "rope": {"pairing": "gptj"}}, {"name": "b"}], "seed": 1)"));
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_EQ(config.cases[0].rope.pairing, Pairing::kGptj);
  EXPECT_EQ(config.cases[1].rope.pairing, Pairing::kNeox);
  EXPECT_EQ(positions_of(config.cases[0]), positions_of(config.cases[1]));
}

}  // namespace
}  // namespace rope_bench::testing
