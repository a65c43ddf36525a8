// rope.scaling and rope.axes against a catalog of methods.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

std::string scaling(const std::string& object) {
  return config_with(R"("rope": {"scaling": )" + object + "}");
}

std::string axes(const char* kind, const char* section, int head_dim = 128) {
  return R"({"model": {"num_heads": 2, "head_dim": )" + std::to_string(head_dim) +
         R"(}, "tokens": 1, "rope": {"axes": {"kind": ")" + kind + R"(", "section": )" + section +
         "}}}";
}

TEST(ScalingConfig, AliasesAndSpellings) {  // C158, C160
  struct Row {
    const char* object;
    const char* type;
  };
  const Row rows[] = {{"null", "none"},
                      {"{}", "none"},
                      {R"({"type": "none"})", "none"},
                      {R"({"rope_type": "default"})", "none"},
                      {R"({"type": "linear", "factor": 8.0})", "linear"},
                      {R"({"rope_type": "linear", "factor": 8.0})", "linear"},
                      {R"({"type": "linear", "rope_type": "linear", "factor": 8.0})", "linear"},
                      {R"({"type": "dynamic_alpha", "alpha": 1000})", "ntk"},
                      {R"({"type": "deepseek_yarn", "factor": 40})", "yarn"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.object);
    EXPECT_EQ(only_case(scaling(row.object)).rope.scaling.type, row.type);
  }
  const LoadedConfig both = parse(scaling(rows[6].object));
  ASSERT_EQ(both.warnings.size(), 1u);
  expect_parts(both.warnings[0], {"t.json:1:", "/rope/scaling/rope_type", "both"});
  EXPECT_TRUE(parse(scaling(rows[5].object)).warnings.empty());
  expect_error(scaling(R"({"type": "linear", "rope_type": "yarn", "factor": 8})"),
               {"/rope/scaling/type", "\"linear\"", "\"yarn\""});
}

TEST(ScalingConfig, FactorOfLinear) {  // C095
  for (const char* factor : {"8", "1", "0.5"}) {
    const LoadedConfig config =
        parse(scaling(std::string(R"({"type": "linear", "factor": )") + factor + "}"));
    EXPECT_EQ(std::get<double>(config.cases[0].rope.scaling.params.at("factor")),
              std::stod(factor));
    EXPECT_EQ(config.warnings.size(), std::stod(factor) < 1 ? 1u : 0u);
  }
  for (const char* factor : {"0", "-1", "\"8\"", "true"}) {
    expect_error(scaling(std::string(R"({"type": "linear", "factor": )") + factor + "}"),
                 {"t.json:1:", "/rope/scaling/factor: " + std::string(factor) + " is not allowed",
                  "above 0"});
  }
  for (const char* object : {R"({"type": "linear", "factor": null})", R"({"type": "linear"})"}) {
    expect_error(scaling(object), {"/rope/scaling/type", "linear needs \"factor\"", "above 0"});
  }
}

TEST(ScalingConfig, ParametersAreThoseOfTheMethod) {
  struct Row {
    const char* object;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {R"({"type": "linaer", "factor": 2})", {"/rope/scaling/type", "nearest: \"linear\""}},
      {R"({"type": "linear", "factr": 2})",
       {"unknown key \"factr\"", "nearest: \"factor\"; known here: type, factor"}},
      {R"({"type": "linear", "factor": 2, "alpha": 3})",
       {"/rope/scaling/alpha", "linear has no parameter \"alpha\"", "known: factor"}},
      {R"({"type": "none", "factor": 2})", {"/rope/scaling/factor", "none takes no parameter"}},
      {R"({"factor": 2})", {"/rope/scaling/factor", "has no \"type\"", "linear, ntk"}},
      {R"({"type": "ntk", "factor": 0.5})", {"/rope/scaling/factor: 0.5", "at least 1"}},
      {R"({"type": "ntk"})", {"exactly one of factor, alpha", "given: none"}},
      {R"({"type": "ntk", "factor": 2, "alpha": 2})", {"exactly one of", "given: factor, alpha"}},
      {R"({"type": "yarn", "factor": 2, "truncate": 1})", {"/rope/scaling/truncate: 1", "true"}},
      {R"({"type": "yarn", "factor": 2, "length_rule": "vlm"})",
       {"/rope/scaling/length_rule", "nearest: \"vllm\""}},
      {R"({"type": "yarn", "factor": 2, "beta_fast": 1e999})", {"beta_fast", "too large"}},
      {R"({"type": "longrope", "short_factor": 1, "long_factor": [1]})",
       {"/rope/scaling/short_factor: 1", "list of numbers"}},
      {R"({"type": "longrope", "short_factor": [1, "2"], "long_factor": [1]})",
       {"/rope/scaling/short_factor/1: \"2\""}},
  };
  for (const Row& row : rows) expect_error(scaling(row.object), row.parts);
}

TEST(ScalingConfig, OnAnAxis) {
  const LoadedConfig config = parse(scaling(R"({"type": ["none", "linear"], "factor": [2, 4]})"));
  ASSERT_EQ(config.cases.size(), 4u);
  expect_parts(config.cases[0].skip_reason, {"none takes no parameter \"factor\""});
  EXPECT_EQ(config.cases[3].skip_reason, "");
  EXPECT_EQ(std::get<double>(config.cases[3].rope.scaling.params.at("factor")), 4);
  // ntk wants at least 1, linear takes 0.5: a combination. 0 is wrong for both: an error.
  const LoadedConfig half = parse(scaling(R"({"type": ["ntk", "linear"], "factor": 0.5})"));
  expect_parts(half.cases[0].skip_reason, {"0.5 is not allowed", "at least 1"});
  EXPECT_EQ(half.cases[1].skip_reason, "");
  expect_error(scaling(R"({"type": ["ntk", "linear"], "factor": [2, 0]})"),
               {"/rope/scaling/factor/1: 0 is not allowed"});
}

TEST(ScalingConfig, NumberOrList) {
  EXPECT_EQ(
      std::get<double>(
          only_case(scaling(R"({"type": "many", "scales": 2})")).rope.scaling.params.at("scales")),
      2);
  EXPECT_EQ(parse(scaling(R"({"type": "many", "scales": [2, 4]})")).cases.size(), 2u);
  const LoadedConfig list = parse(scaling(R"({"type": "many", "scales": [[2, 4], [8]]})"));
  ASSERT_EQ(list.cases.size(), 2u);
  EXPECT_EQ(std::get<std::vector<double>>(list.cases[0].rope.scaling.params.at("scales")),
            (std::vector<double>{2, 4}));
}

TEST(ScalingConfig, ListsHaveOneNumberPerPair) {  // C097
  const auto text = [](int count) {
    std::string list = "[1";
    for (int i = 1; i < count; ++i) list += ", 1";
    list += "]";
    return R"({"model": {"num_heads": 24, "num_kv_heads": 8, "head_dim": 128}, "tokens": 1,
               "rope": {"rotary_dim": 96, "scaling": {"type": "su", "short_factor": )" +
           list + R"(, "long_factor": )" + list + "}}}";
  };
  EXPECT_EQ(only_case(text(48)).rope.scaling.type, "longrope");
  expect_error(text(64), {"has 64 numbers", "rotary_dim/2 is 48"});
  expect_error(text(47), {"has 47 numbers", "rotary_dim/2 is 48"});
}

TEST(ScalingConfig, ProportionalKeepsRotaryDim) {
  const RopeCase c = only_case(config_with(
      R"("rope": {"partial_rotary_factor": 0.25, "scaling": {"type": "proportional"}})"));
  EXPECT_EQ(c.rope.rotary_dim, 64);
  EXPECT_EQ(c.rope.proportion, 0.25);
  expect_error(config_with(R"("rope": {"rotary_dim": 32, "scaling": {"type": "proportional"}})"),
               {"/rope/rotary_dim", "rotary_dim 32", "head_dim 64", "partial_rotary_factor"});
}

TEST(AxesConfig, SectionsMustFit) {  // C103
  struct Row {
    const char* kind;
    const char* section;
    int head_dim;
    std::vector<std::string> parts;  // empty: accepted
  };
  const Row rows[] = {
      {"mrope", "[16, 24, 24]", 128, {}},
      {"mrope", "[24, 20, 20]", 128, {}},
      {"mrope", "[8, 12, 12]", 64, {}},
      {"mrope", "[32, 48, 48]", 256, {}},
      {"mrope", "[0, 0, 0]", 128, {"/rope/axes/section", "sums to 0", "rotary_dim/2 is 64"}},
      {"mrope", "[16, 24, 25]", 128, {"sums to 65", "rotary_dim/2 is 64"}},
      {"mrope", "[32, 32]", 128, {"section of 3 counts", "[32, 32]"}},
      {"mrope_interleaved", "[24, 20, 20]", 128, {}},
      {"mrope_interleaved", "[11, 11, 10]", 64, {}},
      {"mrope_interleaved", "[16, 24, 24]", 128, {"[16, 24, 24]", "22/21/21"}},
      {"mrope_interleaved", "[8, 12, 12]", 64, {"[8, 12, 12]", "11/11/10"}},
      {"ernie", "[22, 22, 20]", 128, {}},
      {"ernie", "[20, 24, 20]", 128, {"h 20 and w 24"}},
      {"xdrope", "[16, 16, 16, 16]", 128, {}},
      {"xdrope", "[16, 24, 24]", 128, {"section of 4 counts"}},
      {"vision_2d", "[32, 32]", 128, {}},
      {"none", "[64]", 128, {"section [64] with axes kind none"}},
  };
  for (const Row& row : rows) {
    const std::string text = axes(row.kind, row.section, row.head_dim);
    if (row.parts.empty()) {
      EXPECT_EQ(error_of(text), "no error") << text;
      EXPECT_EQ(only_case(text).rope.axes.kind, row.kind);
    } else {
      expect_error(text, row.parts);
    }
  }
  expect_error(config_with(R"("rope": {"axes": {"kind": "mrope"}})"),
               {"/rope/axes/kind", "section of 3 counts (t, h, w), got []"});
  EXPECT_EQ(only_case(config_with(R"("rope": {"axes": {}})")).rope.axes, Axes{});
}

}  // namespace
}  // namespace rope_bench::testing
