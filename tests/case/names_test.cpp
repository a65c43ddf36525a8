// Every case has a readable name of its own.
#include <set>

#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

using Names = std::vector<std::string>;

TEST(Names, FixedPartsThenOtherAxes) {
  EXPECT_EQ(names_of(parse(R"({"name": "llama7b", "model": {"num_heads": 32, "head_dim": 128},
                               "dtype": ["f16", "bf16"], "tokens": [1, 64]})")),
            (Names{"llama7b/rope/fast/f16/T1", "llama7b/rope/fast/f16/T64",
                   "llama7b/rope/fast/bf16/T1", "llama7b/rope/fast/bf16/T64"}));
  EXPECT_EQ(names_of(parse(R"({"model": {"num_heads": 4, "head_dim": 64, "batch": [1, 2]},
                               "rope": {"table": {"dtype": ["f32", "data"]}, "theta": [1e4]},
                               "tokens": 3})")),
            (Names{"t/rope/fast/bf16/T3/batch=1/table.dtype=f32/theta=10000",
                   "t/rope/fast/bf16/T3/batch=1/table.dtype=data/theta=10000",
                   "t/rope/fast/bf16/T3/batch=2/table.dtype=f32/theta=10000",
                   "t/rope/fast/bf16/T3/batch=2/table.dtype=data/theta=10000"}));
}

TEST(Names, ListsAndObjects) {
  EXPECT_EQ(names_of(parse(R"({"model": {"num_heads": 4, "head_dim": 64},
                               "seq_lens": [[3, 0, 5], [8]]})")),
            (Names{"t/rope/fast/bf16/T8/seq_lens=3,0,5", "t/rope/fast/bf16/T8/seq_lens=8"}));
  EXPECT_EQ(names_of(parse(config_with(
                R"("rope": {"scaling": [null, {"type": "linear", "factor": 2.5}],
                            "rotary_dim": [null, 32]})"))),
            (Names{"t/rope/fast/bf16/T4/scaling=default/rotary_dim=default",
                   "t/rope/fast/bf16/T4/scaling=default/rotary_dim=32",
                   "t/rope/fast/bf16/T4/scaling=linear,factor=2.5/rotary_dim=default",
                   "t/rope/fast/bf16/T4/scaling=linear,factor=2.5/rotary_dim=32"}));
  Overrides overrides;
  overrides.axis = {"positions=[0,1,2,3,4,5,6,7,8,9],decode"};
  EXPECT_EQ(
      names_of(parse(R"({"model": {"num_heads": 4, "head_dim": 64}, "tokens": 10})", overrides)),
      (Names{"t/rope/fast/bf16/T10/positions=0,1..9x10", "t/rope/fast/bf16/T10/positions=decode"}));
}

TEST(Names, EntriesAreNamedByTheirNameOrTheirKeys) {
  EXPECT_EQ(names_of(parse(config_with(
                R"("cases": [{"name": "wide", "model": {"head_dim": 128}, "dtype": ["f32", "f16"]},
                             {"model": {"head_dim": 128}, "rope": {"theta": 5e5}}, {"norm": {}},
                             {"dtype": "f32"}, {}])"))),
            (Names{"t/wide/rope/fast/f32/T4", "t/wide/rope/fast/f16/T4",
                   "t/rope/fast/bf16/T4/head_dim=128/theta=500000", "t/rope/fast/bf16/T4/norm=none",
                   "t/rope/fast/f32/T4", "t/rope/fast/bf16/T4"}));
}

TEST(Names, AreUniqueAndWithoutSpaces) {
  const LoadedConfig config = parse(config_with(
      R"("name": "my model/v2", "cases": [{"name": "a b"}, {"name": "a b"}, {"name": "a-b"},
         {"dtype": ["f32", "f32"]}])"));
  EXPECT_EQ(names_of(config),
            (Names{"my-model_v2/a-b/rope/fast/bf16/T4", "my-model_v2/a-b/rope/fast/bf16/T4#2",
                   "my-model_v2/a-b/rope/fast/bf16/T4#3", "my-model_v2/rope/fast/f32/T4",
                   "my-model_v2/rope/fast/f32/T4#2"}));
  EXPECT_EQ(config.name, "my model/v2");
}

TEST(Names, ConfigIsNamedByItsFileIfNothingElse) {
  EXPECT_EQ(parse_config(config_with(""), "some/where/qwen2.5-7b.json", catalog(), {}).name,
            "qwen2.5-7b");
}

TEST(Names, OfEnumerations) {
  EXPECT_STREQ(name(Op::kVarlenSplitRope), "varlen_split_rope");
  EXPECT_STREQ(name(Op::kSplitRopeBackward), "split_rope_backward");
  EXPECT_STREQ(name(TableAngle::kFloat32), "float32");
  EXPECT_STREQ(name(PositionKind::kExplicit), "explicit");
  EXPECT_STREQ(name(DataKind::kSpecial), "special");
  EXPECT_STREQ(name(CacheMode::kWarm), "warm");
}

}  // namespace
}  // namespace rope_bench::testing
