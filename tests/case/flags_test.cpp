// --set, --axis, --seed, --seq-len, --filter.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

Overrides set(std::vector<std::string> flags) {
  Overrides overrides;
  overrides.set = std::move(flags);
  return overrides;
}

Overrides axis(std::vector<std::string> flags) {
  Overrides overrides;
  overrides.axis = std::move(flags);
  return overrides;
}

TEST(Set, PathsLeafNamesAndUniqueEndings) {
  const RopeCase c = only_case(
      config_with(R"("dtype": "f32", "rope": {"rotary_dim": 32})"),
      set({"rope.theta=500000", "head_dim=128", "dtype=f16", "table.dtype=bf16", "variant=naive",
           "pairing=gptj", "positions=[3,2,1,0]", "in_place=false", "name=run 7",
           "scaling={\"type\": \"linear\", \"factor\": 4}", "rotary_dim=null"}));
  EXPECT_EQ(c.rope.theta, 500000);
  EXPECT_EQ(c.head_dim, 128);
  EXPECT_EQ(c.dtype, Dtype::kF16);  // the full path, although rope.table.dtype ends alike
  EXPECT_EQ(c.rope.table.dtype, Dtype::kBF16);
  EXPECT_EQ(c.variant, "naive");
  EXPECT_EQ(c.rope.pairing, Pairing::kGptj);
  EXPECT_EQ(c.positions.list, (std::vector<int64_t>{3, 2, 1, 0}));
  EXPECT_FALSE(c.layout.in_place);
  EXPECT_EQ(c.config, "run 7");
  EXPECT_EQ(c.rope.scaling.type, "linear");
  EXPECT_EQ(c.rope.rotary_dim, 128);  // null took the config's away
}

TEST(Set, ReplacesWhatSaysTheSame) {
  EXPECT_EQ(only_case(config_with(""), set({"gqa_ratio=8"})).num_kv_heads, 1);
  EXPECT_EQ(only_case(config_with(""), set({"seq_lens=[1,2]"})).num_tokens(), 3);
  EXPECT_EQ(
      only_case(config_with(R"("rope": {"partial_rotary_factor": 0.5})"), set({"rotary_dim=16"}))
          .rope.rotary_dim,
      16);
  const std::string yarn = config_with(R"("rope": {"scaling": {"type": "yarn", "factor": 4}})");
  EXPECT_EQ(only_case(yarn, set({"type=none"})).rope.scaling, Scaling{});
  EXPECT_EQ(only_case(yarn, set({"factor=8", "type=linear"})).rope.scaling.type, "linear");
  EXPECT_EQ(std::get<double>(only_case(yarn, set({"factor=8"})).rope.scaling.params.at("factor")),
            8);
  // The last of two flags counts.
  EXPECT_EQ(only_case(config_with(""), set({"tokens=8", "tokens=9"})).tokens, 9);
  EXPECT_EQ(parse(config_with(""), set({"tokens=[8,9]"})).cases.size(), 2u);
}

TEST(Set, ErrorsNameTheFlag) {
  struct Row {
    const char* flag;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {"rope.theta=0", {"--set rope.theta=0: /rope/theta: 0 is not allowed", "above 0"}},
      {"theta=nan", {"--set theta=nan", "\"nan\" is not allowed", "finite number"}},
      {"theta=inf", {"--set theta=inf", "finite number"}},
      {"rotary_dim=63", {"--set rotary_dim=63: /rope/rotary_dim: 63", "even"}},
      {"rotary_dim=128", {"--set rotary_dim=128", "rotary_dim 128 is above head_dim 64"}},
      {"measure.min_time_ms=1e300",
       {"--set measure.min_time_ms=1e300", "at least 0 and up to 86400000"}},
      {"num_kv_heads=3", {"--set num_kv_heads=3", "num_kv_heads 3", "num_heads 8"}},
      {"order=after", {"--set order=after", "norm.order, layout.order"}},
      {"token_stride=4", {"layout.q.token_stride, layout.k.token_stride"}},
      {"tokens=1,8", {"\"1,8\" is not allowed", "; for a case each: --axis tokens=1,8"}},
      {"tokens=1-64*2", {"\"1-64*2\" is not allowed", "; for a case each: --axis tokens=1-64*2"}},
      {"dtype=f16,bf16", {"--set dtype=f16,bf16", "; for a case each: --axis dtype=f16,bf16"}},
      {"thet=4", {"--set thet=4", "unknown key \"thet\"", "nearest: \"theta\""}},
      {"rope.thet=4", {"unknown key \"rope.thet\"", "nearest: \"rope.theta\""}},
      {"cases=[]", {"--set cases=[]", "\"cases\" is not allowed here"}},
      {"norm.given=true", {"unknown key \"norm.given\""}},
      {"theta", {"--set theta: expected KEY=VALUE"}},
      {"=4", {"expected KEY=VALUE"}},
      {"theta=", {"expected KEY=VALUE"}},
      {"positions=[1,2", {"--set positions=[1,2"}},
      {"dtype=f61", {"--set dtype=f61", "nearest: \"f16\""}},
  };
  for (const Row& row : rows) expect_error(config_with(""), row.parts, set({row.flag}));
}

// The hint to --axis is given where --axis would take it.
TEST(Set, WhatIsNoListEitherGetsNoHint) {
  for (const char* flag : {"tokens=1,x", "dtype=f16,f17", "theta=0", "tokens=x"}) {
    const std::string message = error_of(config_with(""), set({flag}));
    EXPECT_NE(message.find("is not allowed"), std::string::npos) << message;
    EXPECT_EQ(message.find("--axis"), std::string::npos) << message;
  }
}

TEST(Axis, BothRangeSyntaxes) {
  struct Row {
    const char* values;
    std::vector<int64_t> tokens;
  };
  const Row rows[] = {
      {"1,8,64", {1, 8, 64}},
      {"8", {8}},
      {"1-64*2", {1, 2, 4, 8, 16, 32, 64}},
      {"1-100*4", {1, 4, 16, 64}},
      {"1-64+21", {1, 22, 43, 64}},
      {"3-6", {3, 4, 5, 6}},
      {"5-5*2", {5}},
      {"0,1-4*2,100", {0, 1, 2, 4, 100}},
      {"[1,8,64]", {1, 8, 64}},
      {"[1:64:*2]", {1, 2, 4, 8, 16, 32, 64}},
      {"[1:64:21]", {1, 22, 43, 64}},
      {"[1:64:+21]", {1, 22, 43, 64}},
      {"[3:6]", {3, 4, 5, 6}},
      {"[1, 4:16:*2, 100]", {1, 4, 8, 16, 100}},
      {"[1-4*2]", {1, 2, 4}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.values);
    const LoadedConfig config = parse(config_with(""), axis({std::string("tokens=") + row.values}));
    std::vector<int64_t> tokens;
    for (const RopeCase& c : config.cases) tokens.push_back(c.tokens);
    EXPECT_EQ(tokens, row.tokens);
  }
}

TEST(Axis, NegativeAndFractionalValues) {
  const LoadedConfig offsets =
      parse(config_with(R"("positions": [9, 9, 9, 9])"), axis({"position_offset=-5,-4--2,3"}));
  ASSERT_EQ(offsets.cases.size(), 5u);
  EXPECT_EQ(offsets.cases[0].positions.offset, -5);
  EXPECT_EQ(offsets.cases[3].positions.offset, -2);
  const LoadedConfig factors = parse(config_with(""), axis({"partial_rotary_factor=0.25-1+0.25"}));
  ASSERT_EQ(factors.cases.size(), 4u);
  EXPECT_EQ(factors.cases[3].rope.rotary_dim, 64);
  const LoadedConfig theta = parse(config_with(""), axis({"theta=1e4-1e6*10"}));
  ASSERT_EQ(theta.cases.size(), 3u);
  EXPECT_EQ(theta.cases[2].rope.theta, 1e6);
}

TEST(Axis, WordsListsAndObjects) {
  EXPECT_EQ(parse(config_with(""), axis({"dtype=f32,f16,bf16"})).cases.size(), 3u);
  EXPECT_EQ(parse(config_with(""), axis({"pairing=[neox,gptj]"})).cases.size(), 2u);
  EXPECT_EQ(parse(config_with(""), axis({"positions=sequential,[3,2,1,0]"})).cases.size(), 2u);
  EXPECT_EQ(parse(config_with(""), axis({"seq_lens=[[1,2],[3]]"})).cases.size(), 2u);
  EXPECT_EQ(parse(config_with(""), axis({"seq_lens=[1,2],[3]"})).cases.size(), 2u);
  const LoadedConfig scaling =
      parse(config_with(""), axis({R"(scaling={"type":"none"},{"type":"linear","factor":2})"}));
  ASSERT_EQ(scaling.cases.size(), 2u);
  EXPECT_EQ(scaling.cases[1].rope.scaling.type, "linear");
  // Replaces the config's own axis, in its place; a new axis comes last.
  const LoadedConfig config =
      parse(R"({"tokens": [1, 2], "model": {"num_heads": [1, 2], "head_dim": 64}})",
            axis({"tokens=5,6", "dtype=f16"}));
  ASSERT_EQ(config.cases.size(), 4u);
  EXPECT_EQ(config.cases[1].tokens, 5);
  EXPECT_EQ(config.cases[1].num_heads, 2);
}

TEST(Axis, ErrorsNameTheFlag) {
  struct Row {
    const char* flag;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {"tokens=1,-2", {"--axis tokens=1,-2: /tokens/1: -2 is not allowed"}},
      {"tokens=1,,2", {"--axis tokens=1,,2", "an empty value"}},
      {"tokens=", {"--axis tokens=: expected KEY=VALUES"}},
      {"tokens", {"expected KEY=VALUES"}},
      {"tokens=1-64*1", {"--axis tokens=1-64*1", "\"1-64*1\" does not grow"}},
      {"tokens=1-64+0", {"does not grow"}},
      {"tokens=0-64*2", {"multiplies from below 1"}},
      {"tokens=64-1", {"ends before it begins"}},
      {"tokens=1-2000000", {"more than 1000000 values"}},
      {"tokens=1-9223372036854775807*5", {"/tokens/", "is not allowed"}},
      {"theta=1e300-1e999", {"is not finite"}},
      {"rope.pairing=neox,gptk", {"/rope/pairing/1", "nearest: \"gptj\""}},
      {"name=a,b", {"--axis name=a,b", "name cannot be an axis"}},
      {"model=1", {"--axis model=1", "/model"}},
      {"tokans=1", {"nearest: \"tokens\""}},
  };
  for (const Row& row : rows) expect_error(config_with(""), row.parts, axis({row.flag}));
}

TEST(Flags, SeedAndSeqLen) {
  Overrides overrides;
  overrides.seed = 18446744073709551615u;
  overrides.seq_len = 65536;
  const RopeCase c = only_case(config_with(R"("seed": [1, 2, 3])"), overrides);
  EXPECT_EQ(c.seed, 18446744073709551615u);
  EXPECT_EQ(c.rope.seq_len, 65536);
  overrides.seq_len = 0;
  expect_error(config_with(""), {"--seq-len 0", "from 1"}, overrides);
}

TEST(Flags, LieOverCasesToo) {
  const LoadedConfig config = parse(
      config_with(R"("cases": [{"tokens": 7}, {"tokens": 8, "dtype": "f32"}])"), set({"tokens=3"}));
  for (const RopeCase& c : config.cases) EXPECT_EQ(c.tokens, 3);
  EXPECT_EQ(config.cases[1].dtype, Dtype::kF32);
}

TEST(Filter, FullNameElseRegex) {
  const LoadedConfig config = parse(config_with(""), axis({"tokens=1,10,100"}));
  const std::vector<RopeCase>& cases = config.cases;
  ASSERT_EQ(filter_cases(cases, cases[0].name).size(), 1u);  // as a regex it would match all
  EXPECT_EQ(filter_cases(cases, cases[0].name)[0].tokens, 1);
  EXPECT_EQ(filter_cases(cases, "T1").size(), 3u);
  EXPECT_EQ(filter_cases(cases, "T10+$").size(), 2u);
  EXPECT_EQ(filter_cases(cases, "nothing").size(), 0u);
  try {
    filter_cases(cases, "T(1");
    FAIL() << "a bad regex was taken";
  } catch (const ConfigError& error) {
    expect_parts(error.what(), {"--filter T(1", "regular expression"});
  }
}

}  // namespace
}  // namespace rope_bench::testing
