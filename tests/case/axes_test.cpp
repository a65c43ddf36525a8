// Arrays are axes, axes multiply; `cases`; combinations that are not valid.
#include <nlohmann/json.hpp>

#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(Axes, MultiplyInTheOrderInWhichTheyAreWritten) {
  const LoadedConfig config = parse(
      R"({"dtype": ["f32", "bf16"], "model": {"num_heads": 4, "head_dim": [64, 128]},
          "tokens": [1, 2, 3]})");
  ASSERT_EQ(config.cases.size(), 12u);
  EXPECT_EQ(config.cases[0].dtype, Dtype::kF32);
  EXPECT_EQ(config.cases[0].head_dim, 64);
  EXPECT_EQ(config.cases[1].tokens, 2);
  EXPECT_EQ(config.cases[3].head_dim, 128);
  EXPECT_EQ(config.cases[5].dtype, Dtype::kF32);
  EXPECT_EQ(config.cases[6].dtype, Dtype::kBF16);
}

TEST(Axes, ListsWithinAListForKeysThatAreLists) {
  const LoadedConfig config =
      parse(R"({"model": {"num_heads": 4, "head_dim": 64}, "seq_lens": [[3, 0, 5], [8]]})");
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_EQ(config.cases[0].seq_lens, (std::vector<int64_t>{3, 0, 5}));
  EXPECT_EQ(config.cases[1].seq_lens, (std::vector<int64_t>{8}));
  // Of positions, words and lists are alternatives; integers are one list.
  const LoadedConfig positions =
      parse(config_with(R"("positions": ["decode", [0, 1, 2, 3], "random"])"));
  ASSERT_EQ(positions.cases.size(), 3u);
  EXPECT_EQ(positions.cases[0].positions.kind, PositionKind::kDecode);
  EXPECT_EQ(positions.cases[1].positions.kind, PositionKind::kExplicit);
  EXPECT_EQ(only_case(config_with(R"("positions": [0, 1, 2, 3])")).positions.list.size(), 4u);
  expect_error(config_with(R"("positions": [0, "random"])"),
               {"/positions/1: \"random\" is not allowed; allowed: an integer,"});
  expect_error(config_with(R"("rope": {"axes": {"kind": "mrope", "section": [[8], 3]}})"),
               {"/rope/axes/section/1: 3"});
}

TEST(Axes, ObjectsMayBeAlternatives) {
  const LoadedConfig config = parse(config_with(
      R"("rope": {"scaling": [null, {"type": "linear", "factor": 4}, {"type": "ntk", "alpha": 8}]})"));
  ASSERT_EQ(config.cases.size(), 3u);
  EXPECT_EQ(config.cases[0].rope.scaling.type, "none");
  EXPECT_EQ(config.cases[1].rope.scaling.type, "linear");
  EXPECT_EQ(std::get<double>(config.cases[2].rope.scaling.params.at("alpha")), 8);
  expect_error(config_with(R"("rope": {"scaling": [{"type": "linear", "factor": [2, 4]}]})"),
               {"/rope/scaling/0/factor", "write the alternatives out"});
  expect_error(config_with(R"("rope": {"scaling": [{"type": "linear"}]})"),
               {"/rope/scaling/0/type", "needs \"factor\""});
  expect_error(config_with(R"("rope": {"scaling": []})"), {"/rope/scaling: []", "at least one"});
  expect_error(config_with(R"("model": [{}])"), {"\"model\" appears twice"});
  expect_error(R"({"model": [{"num_heads": 1}]})", {"/model: [{\"num_heads\":1}] is not allowed"});
}

TEST(Axes, EmptyAndSingleAxes) {
  expect_error(config_with(R"("dtype": [])"), {"/dtype: []", "at least one value"});
  EXPECT_EQ(parse(config_with(R"("dtype": ["f16"])")).cases.size(), 1u);
  const LoadedConfig absent = parse(config_with(R"("rope": {"rotary_dim": [32, null]})"));
  ASSERT_EQ(absent.cases.size(), 2u);
  EXPECT_EQ(absent.cases[1].rope.rotary_dim, 64);
}

TEST(Axes, InvalidValueIsAnErrorInvalidCombinationIsSkipped) {
  expect_error(config_with(R"("rope": {"rotary_dim": [32, 63]})"), {"/rope/rotary_dim/1: 63"});
  struct Row {
    const char* text;
    std::vector<std::string> reasons;  // one per case, empty if it runs
  };
  const Row rows[] = {
      {R"({"model": {"num_heads": 4, "head_dim": [64, 128]}, "tokens": 1,
           "rope": {"rotary_dim": 128}})",
       {"rotary_dim 128 is above head_dim 64", ""}},
      {R"({"model": {"num_heads": 6, "num_kv_heads": [4, 3], "head_dim": 64}, "tokens": 1})",
       {"num_kv_heads 4 does not divide num_heads 6", ""}},
      {R"({"model": {"num_heads": [6, 8], "gqa_ratio": 4, "head_dim": 64}, "tokens": 1})",
       {"gqa_ratio 4 does not divide num_heads 6", ""}},
      {R"({"model": {"num_heads": 4, "head_dim": 64}, "tokens": [16, 17],
           "rope": {"table": {"rows": 16}}})",
       {"", "position 16 >= 16 rows at token 16 (needs 17 rows)"}},
      {R"({"model": {"num_heads": 4, "head_dim": 64}, "tokens": [2, 3], "positions": [7, 8]})",
       {"", "2 positions for 3 tokens"}},
      {R"({"model": {"num_heads": 4, "head_dim": [70, 80]}, "tokens": 1,
           "rope": {"pairing": "partial"}})",
       {"pairing partial of head_dim 70 is rotary_dim 35; it must be even and at least 2", ""}},
      {R"({"model": {"num_heads": 4, "head_dim": 64}, "op": ["rope", "split_rope"], "tokens": 1,
           "rope": {"pairing": "fused_neox"}})",
       {"pairing fused_neox is short for neox with op split_rope, but op is rope", ""}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const LoadedConfig config = parse(row.text);
    ASSERT_EQ(config.cases.size(), row.reasons.size());
    for (size_t i = 0; i < row.reasons.size(); ++i) {
      EXPECT_EQ(config.cases[i].skip_reason, row.reasons[i]);
    }
  }
  // The clash has nothing to do with the axis: an error, whatever else is swept.
  expect_error(R"({"model": {"num_heads": 6, "num_kv_heads": 4, "head_dim": 64},
                  "tokens": [1, 2]})",
               {"num_kv_heads 4", "num_heads 6"});
}

TEST(Axes, TooManyCasesAreRefusedBeforeTheyAreMade) {
  Overrides overrides;
  overrides.axis = {"tokens=0-999", "seed=1-1001"};
  const std::string text = config_with("");
  expect_error(text, {"1001000 cases", "tokens 1000 x seed 1001", "at most 1000000"}, overrides);
  // A product beyond 64 bits does not wrap round to a small one.
  overrides.axis = {"tokens=0-999999", "seed=0-999999", "position_offset=0-999999",
                    "theta=1-1000000"};
  expect_error(text, {"more than", "at most 1000000"}, overrides);
}

TEST(Axes, CasesAreLaidOverTheKeysAbove) {
  const LoadedConfig config = parse(R"({
    "model": {"num_heads": 8, "num_kv_heads": 2, "head_dim": 64, "max_position": 128},
    "rope": {"theta": 5e5, "scaling": {"type": "yarn", "factor": 4, "beta_fast": 8}},
    "tokens": [1, 2],
    "cases": [
      {"name": "base"},
      {"model": {"head_dim": 80}, "tokens": 3},
      {"model": {"gqa_ratio": 8, "max_position": null}, "seq_lens": [2, 3]},
      {"rope": {"scaling": {"factor": 8}}, "tokens": 1},
      {"rope": {"scaling": {"type": "linear", "factor": 2}}, "tokens": 1},
      {"rope": {"scaling": null}, "tokens": 1},
      {"rope": {"scaling": {}}, "tokens": 1}]})");
  ASSERT_EQ(config.cases.size(), 8u);
  EXPECT_EQ(config.cases[1].tokens, 2);
  EXPECT_EQ(config.cases[2].head_dim, 80);
  EXPECT_EQ(config.cases[2].num_heads, 8);
  EXPECT_EQ(config.cases[2].rope.theta, 500000);
  EXPECT_EQ(config.cases[3].num_kv_heads, 1);  // gqa_ratio replaced num_kv_heads
  EXPECT_FALSE(config.cases[3].max_position.has_value());
  EXPECT_EQ(config.cases[3].num_tokens(), 5);  // seq_lens replaced tokens
  // A parameter alone changes the method's parameter; a type starts afresh.
  EXPECT_EQ(std::get<double>(config.cases[4].rope.scaling.params.at("factor")), 8);
  EXPECT_EQ(config.cases[4].rope.scaling.params.count("beta_fast"), 1u);
  EXPECT_EQ(config.cases[5].rope.scaling.type, "linear");
  EXPECT_EQ(config.cases[5].rope.scaling.params.size(), 1u);
  EXPECT_EQ(config.cases[6].rope.scaling, Scaling{});
  EXPECT_EQ(config.cases[7].rope.scaling, Scaling{});
}

TEST(Axes, AnErrorInAnEntryNamesTheEntry) {
  expect_error(config_with(R"("cases": [{"seed": 1}, {"rope": {"rotary_dim": 128}}])"),
               {"t.json:1:", "/cases/1/rope/rotary_dim", "rotary_dim 128", "head_dim 64"});
}

TEST(Axes, ResolvedConfigGivesTheSameCases) {
  Overrides overrides;
  overrides.set = {"theta=500000", "rope.scaling.factor=8"};
  overrides.axis = {"dtype=f16,bf16"};
  overrides.seed = 7;
  overrides.seq_len = 99;
  const std::string text = R"({
    "name": "suite", "model": {"num_heads": 8, "num_kv_heads": 2, "head_dim": 64},
    "norm": {}, "rope": {"scaling": {"type": "ntk", "factor": 2}}, "tokens": [1, 2],
    "cases": [{"name": "a", "dtype": "f32", "seed": 5},
              {"name": "b", "rope": {"scaling": {"type": "linear", "factor": 2}}},
              {"name": "c", "seq_lens": [1, 2], "rope": {"axes": null}}]})";
  const LoadedConfig first = parse(text, overrides);
  const LoadedConfig second = parse(first.resolved_json);
  EXPECT_EQ(second.resolved_json, first.resolved_json);
  EXPECT_EQ(first.resolved_json.find('\n'), std::string::npos);
  ASSERT_EQ(names_of(first), names_of(second));
  for (size_t i = 0; i < first.cases.size(); ++i) {
    const RopeCase& a = first.cases[i];
    const RopeCase& b = second.cases[i];
    EXPECT_EQ(a.dtype, b.dtype);
    EXPECT_EQ(a.seed, 7u);
    EXPECT_EQ(b.seed, 7u);
    EXPECT_EQ(b.rope.theta, 500000);
    EXPECT_EQ(b.rope.seq_len, 99);
    EXPECT_EQ(a.rope.scaling, b.rope.scaling);
    EXPECT_EQ(std::get<double>(b.rope.scaling.params.at("factor")), 8);
    EXPECT_EQ(a.norm.given, b.norm.given);
    EXPECT_EQ(a.num_tokens(), b.num_tokens());
  }
}

}  // namespace
}  // namespace rope_bench::testing
