// What goes with an op: packed rows, bias, norms.
#include "src/case/operands.h"
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

// 4 query heads on 2 key heads of 8, 3 tokens.
std::string op_case(const std::string& op, const std::string& more = "") {
  return R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 3, "op": ")" +
         op + "\"" + (more.empty() ? "" : ", " + more) + "}";
}

Operands operands(const std::string& op, const std::string& more = "") {
  return operands_of(only_case(op_case(op, more)));
}

TEST(Operands, SplitOpsReadPackedRows) {
  for (const char* op : {"split_rope", "norm_split_rope", "varlen_split_rope"}) {
    const Operands o = operands(op);
    EXPECT_FALSE(o.in_place) << op;
    ASSERT_EQ(o.in.buffers.size(), 1u) << op;
    EXPECT_EQ(o.in.elements(), 3 * 64);
    EXPECT_EQ(o.in.views[1].offset, 32);
    EXPECT_EQ(o.in.views[2].offset, 48);
    for (const OperandView& view : o.in.views) EXPECT_EQ(view.token_stride, 64);
    ASSERT_EQ(o.out.buffers.size(), 3u) << op;
    EXPECT_EQ(o.out.views[0].token_stride, 32);
    EXPECT_EQ(o.out.views[2].token_stride, 16);
  }
}

TEST(Operands, ThePackedRowsOfAGradientAreItsOutput) {
  const Operands o = operands("split_rope_backward");
  EXPECT_EQ(o.in.buffers.size(), 3u);
  ASSERT_EQ(o.out.buffers.size(), 1u);
  EXPECT_EQ(o.out.views[2].offset, 48);
  // In place it never leaves them.
  EXPECT_EQ(operands("split_rope_backward", R"("layout": {"in_place": true})").in.buffers.size(),
            1u);
}

TEST(Operands, PlainOpsHaveNoV) {
  for (const char* op : {"rope", "rope_backward"}) {
    const Operands o = operands(op);
    EXPECT_EQ(o.heads[2], 0);
    EXPECT_EQ(o.in.buffers.size(), 2u);
    EXPECT_EQ(o.in.views[2].buffer, -1);
    EXPECT_EQ(o.in_place, std::string(op) == "rope");
  }
}

TEST(Operands, PackedRowsMayBeFurtherApart) {
  const Operands o = operands("split_rope", R"("layout": {"q": {"token_stride": 80}})");
  EXPECT_EQ(o.in.elements(), 2 * 80 + 64);
  EXPECT_EQ(o.in.views[2].token_stride, 80);
  EXPECT_EQ(o.in.buffers[0].used, 3 * 64);
  // One row has no stride.
  const Operands one = operands_of(only_case(
      R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8}, "tokens": 1,
          "op": "split_rope", "layout": {"q": {"token_stride": 5}}})"));
  EXPECT_EQ(one.in.elements(), 64);
}

// C031, C033: [B, H, S, D] keeps its batch entries apart.
TEST(Operands, HeadsOutsideTokensHaveABatchStride) {
  const std::string two = R"({"model": {"num_heads": 4, "num_kv_heads": 2, "head_dim": 8,
      "batch": 2}, "tokens": 3, "layout": {"order": "heads_tokens_dim"}, "op": )";
  const Operands rope = operands_of(only_case(two + R"("rope"})"));
  EXPECT_EQ(rope.in.grid.batches, 2);
  EXPECT_EQ(rope.in.views[0].token_stride, 8);
  EXPECT_EQ(rope.in.views[0].head_stride, 24);
  EXPECT_EQ(rope.in.views[0].batch_stride, 96);
  EXPECT_EQ(rope.in.views[1].batch_stride, 48);
  // Packed rows stay in the order of tokens, only what is separate has heads outside.
  const Operands split = operands_of(only_case(two + R"("split_rope"})"));
  EXPECT_EQ(split.in.grid.batches, 1);
  EXPECT_EQ(split.in.grid.tokens, 6);
  EXPECT_EQ(split.out.views[2].batch_stride, 48);
}

// C029: a head that goes on behind head_dim is copied in whole.
TEST(Operands, HeadsBehindHeadDim) {
  const Operands o =
      operands("rope_backward", R"("layout": {"q": {"head_stride": 32, "rotary_offset": 24}})");
  EXPECT_EQ(o.widths[0], 32);
  EXPECT_EQ(o.widths[1], 8);
  EXPECT_EQ(o.out.views[0].head_stride, 32);
}

TEST(Ops, StridesThatPackedRowsDoNotHaveAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("layout": {"q": {"head_stride": 16}})", "/layout/q/head_stride: layout.q.head_stride 16"},
      {R"("layout": {"k": {"token_stride": 64}})", "/layout/k/token_stride: layout.k.token_stride"},
      {R"("layout": {"k": {"head_stride": 8}})", "the stride of these is layout.q.token_stride"},
      {R"("layout": {"q": {"token_stride": 63}})", "token_stride 63 of q is below 64"},
      {R"("layout": {"k": {"rotary_offset": 2}})", "rotary_offset 2 of k + rotary_dim 8"},
      {R"("layout": {"order": "heads_tokens_dim", "in_place": true})", "in place"},
  };
  for (const auto& [more, text] : cases) expect_error(op_case("split_rope", more), {text});
  EXPECT_EQ(
      error_of(op_case("split_rope",
                       R"("rope": {"rotary_dim": 4}, "layout": {"k": {"rotary_offset": 4}})")),
      "no error");
}

TEST(Ops, EpsOfANormIsANormalFloat) {  // C108
  for (const char* eps : {"0", "-1e-6", "1e-45", "1e-38", "1.17549e-38", "1e39", "\"nan\""}) {
    expect_error(op_case("norm_split_rope", std::string(R"("norm": {"eps": )") + eps + "}"),
                 {"/norm/eps", "1.1754943508222875e-38"});
  }
  for (const char* eps : {"1.2e-38", "1e-6", "1"}) {
    EXPECT_EQ(error_of(op_case("norm_split_rope", std::string(R"("norm": {"eps": )") + eps + "}")),
              "no error");
  }
}

TEST(Ops, ANormWithoutWeightsHasNoOffset) {
  expect_error(op_case("norm_split_rope", R"("norm": {"weight": false, "weight_offset": 1})"),
               {"/norm/weight_offset", "without weights"});
  EXPECT_FALSE(only_case(op_case("norm_split_rope", R"("norm": {"weight": false})")).norm.weight);
  EXPECT_TRUE(only_case(op_case("norm_split_rope")).norm.weight);
}

// C114, C122: what the ops here do not have is refused by name.
TEST(Ops, OptionsOfOtherToolsAreRefusedByName) {
  for (const char* key : {"residual", "context_parallel", "kv_cache"}) {
    expect_error(op_case("norm_split_rope", std::string("\"") + key + "\": true"),
                 {std::string("unknown key \"") + key + "\""});
  }
  expect_error(op_case("norm_split_rope", R"("norm": {"residual": true})"),
               {"/norm/residual: unknown key \"residual\"", "known here: eps"});
}

TEST(Ops, ABiasBelongsToForwardSplits) {
  EXPECT_TRUE(has_bias(only_case(op_case("norm_split_rope", R"("qkv_bias": true)"))));
  for (const char* op : {"rope", "rope_backward", "split_rope_backward"}) {
    const LoadedConfig config = parse(op_case(op, R"("qkv_bias": true)"));
    EXPECT_FALSE(has_bias(config.cases[0]));
    EXPECT_EQ(config.warnings,
              std::vector<std::string>{std::string("qkv_bias has no effect on op ") + op});
  }
}

}  // namespace
}  // namespace rope_bench::testing
