// Every key: what it means where it is given, its default, and what it refuses.
#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(Values, DefaultsOfAMinimalConfig) {
  const RopeCase c = only_case(R"({"model": {"num_heads": 8, "head_dim": 64}, "tokens": 4})");
  EXPECT_EQ(c.config, "t");
  EXPECT_EQ(c.op, Op::kRope);
  EXPECT_EQ(c.variant, "fast");
  EXPECT_EQ(c.dtype, Dtype::kBF16);
  EXPECT_EQ(c.num_kv_heads, 8);
  EXPECT_EQ(c.batch, 1);
  EXPECT_FALSE(c.max_position.has_value());
  EXPECT_EQ(c.rope.pairing, Pairing::kNeox);
  EXPECT_EQ(c.rope.rotary_dim, 64);
  EXPECT_EQ(c.rope.theta, 10000);
  EXPECT_EQ(c.rope.scaling, Scaling{});
  EXPECT_EQ(c.rope.proportion, 1);
  EXPECT_EQ(c.rope.axes, Axes{});
  EXPECT_FALSE(c.rope.reversed);
  EXPECT_FALSE(c.rope.query_scale.has_value());
  EXPECT_FALSE(c.rope.seq_len.has_value());
  EXPECT_EQ(c.rope.table.angle, TableAngle::kExact);
  EXPECT_EQ(c.rope.table.dtype, Dtype::kF32);
  EXPECT_FALSE(c.rope.table.rows.has_value());
  EXPECT_FALSE(c.norm.given);
  EXPECT_EQ(c.norm.eps, 1e-6);
  EXPECT_TRUE(c.layout.in_place);
  EXPECT_FALSE(c.layout.q.token_stride.has_value());
  EXPECT_EQ(c.positions.kind, PositionKind::kSequential);
  EXPECT_EQ(c.positions.bits, 32);
  EXPECT_EQ(c.data, DataKind::kNormal);
  EXPECT_EQ(c.measure.cache, std::vector<CacheMode>{CacheMode::kCold});
  EXPECT_EQ(c.measure.precision, 0.005);
  EXPECT_EQ(c.seed, 0u);
  EXPECT_EQ(c.skip_reason, "");
}

TEST(Values, EveryKeyIsRead) {
  const RopeCase c = only_case(R"({
    "$schema": "config.schema.json", "name": "all", "description": "every key",
    "model": {"num_heads": 12, "gqa_ratio": 3, "head_dim": 96, "max_position": 2048, "batch": 2},
    "rope": {"pairing": "interleaved", "rotary_dim": 48, "theta": 5e5, "direction": "reversed",
             "seq_len": 100, "table": {"angle": "float32", "dtype": "data", "rows": 4096},
             "scaling": {"type": "yarn", "factor": 4, "truncate": false, "length_rule": "vllm"},
             "axes": {"kind": "mrope", "section": [8, 8, 8]},
             "query_scale": {"beta": 0.1, "original_max_position_embeddings": 16384}},
    "op": "rope_backward", "variant": "per_head", "dtype": "f16",
    "norm": {"eps": 1e-5, "weight": false, "weight_offset": 1, "span": "row", "order": "after",
             "round_between": true},
    "qkv_bias": true,
    "layout": {"order": "heads_tokens_dim", "in_place": true,
               "q": {"token_stride": 128, "head_stride": 1024, "rotary_offset": 32},
               "k": {"token_stride": 96, "head_stride": 2048, "rotary_offset": 0}},
    "tokens": 7, "varlen": {"source": "position_ids", "output": "padded", "max_seqlen": 9},
    "positions": "random", "position_offset": 5, "position_dtype": "int64",
    "data": "cancel", "seed": 18446744073709551615,
    "measure": {"cache": "both", "min_time_ms": 2, "max_time_s": 3.5, "precision": 0.01,
                "timeout_s": 60}})");
  EXPECT_EQ(c.config, "all");
  EXPECT_EQ(c.num_kv_heads, 4);
  EXPECT_EQ(c.max_position, 2048);
  EXPECT_EQ(c.batch, 2);
  EXPECT_EQ(c.num_tokens(), 14);
  EXPECT_EQ(c.rope.pairing, Pairing::kGptj);
  EXPECT_EQ(c.rope.rotary_dim, 48);
  EXPECT_EQ(c.rope.theta, 500000);
  EXPECT_TRUE(c.rope.reversed);
  EXPECT_EQ(c.rope.seq_len, 100);
  EXPECT_EQ(c.rope.table.angle, TableAngle::kFloat32);
  EXPECT_EQ(c.rope.table.dtype, Dtype::kF16);  // data
  EXPECT_EQ(c.rope.table.rows, 4096);
  EXPECT_EQ(c.rope.scaling.type, "yarn");
  EXPECT_EQ(std::get<double>(c.rope.scaling.params.at("factor")), 4);
  EXPECT_EQ(std::get<bool>(c.rope.scaling.params.at("truncate")), false);
  EXPECT_EQ(std::get<std::string>(c.rope.scaling.params.at("length_rule")), "vllm");
  EXPECT_EQ(c.rope.axes, (Axes{"mrope", {8, 8, 8}}));
  EXPECT_EQ(c.rope.query_scale.value().beta, 0.1);
  EXPECT_EQ(c.rope.query_scale.value().original_max_position_embeddings, 16384);
  EXPECT_EQ(c.op, Op::kRopeBackward);
  EXPECT_EQ(c.variant, "per_head");
  EXPECT_TRUE(c.norm.given && c.norm.span_row && c.norm.after_rotation && c.norm.round_between);
  EXPECT_EQ(c.norm.eps, 1e-5);
  EXPECT_EQ(c.norm.weight_offset, 1);
  EXPECT_FALSE(c.norm.weight);
  EXPECT_TRUE(c.qkv_bias);
  EXPECT_TRUE(c.layout.heads_tokens_dim && c.layout.in_place);
  EXPECT_EQ(c.layout.q.token_stride, 128);
  EXPECT_EQ(c.layout.q.head_stride, 1024);
  EXPECT_EQ(c.layout.q.rotary_offset, 32);
  EXPECT_EQ(c.layout.k.head_stride, 2048);
  EXPECT_EQ(c.varlen.source, "position_ids");
  EXPECT_TRUE(c.varlen.given && c.varlen.padded_output);
  EXPECT_EQ(c.varlen.max_seqlen, 9);
  EXPECT_EQ(c.positions.kind, PositionKind::kRandom);
  EXPECT_EQ(c.positions.offset, 5);
  EXPECT_EQ(c.positions.bits, 64);
  EXPECT_EQ(c.data, DataKind::kCancel);
  EXPECT_EQ(c.seed, 18446744073709551615u);
  EXPECT_EQ(c.measure.cache, (std::vector<CacheMode>{CacheMode::kCold, CacheMode::kWarm}));
  EXPECT_EQ(c.measure.min_time_ms, 2);
  EXPECT_EQ(c.measure.max_time_s, 3.5);
  EXPECT_EQ(c.measure.precision, 0.01);
  EXPECT_EQ(c.measure.timeout_s, 60);
}

TEST(Values, EachKeyRefusesWhatItDoesNotAllow) {
  struct Row {
    const char* member;  // laid over a good config
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {R"("rope": {"theta": 0})", {"/rope/theta: 0 is not allowed", "finite number above 0"}},
      {R"("rope": {"theta": -1})", {"/rope/theta: -1", "finite number above 0"}},
      {R"("rope": {"theta": "1e4"})", {"/rope/theta: \"1e4\""}},
      {R"("rope": {"rotary_dim": 0})", {"/rope/rotary_dim: 0", "even integer from 2"}},  // C027
      {R"("rope": {"rotary_dim": 63})", {"/rope/rotary_dim: 63", "even integer from 2"}},
      {R"("rope": {"rotary_dim": 1.5})", {"/rope/rotary_dim: 1.5"}},
      {R"("rope": {"rotary_dim": 66})", {"/rope/rotary_dim", "rotary_dim 66", "head_dim 64"}},
      {R"("rope": {"partial_rotary_factor": 0})", {"partial_rotary_factor: 0", "above 0"}},
      {R"("rope": {"partial_rotary_factor": 1.1})", {"partial_rotary_factor: 1.1", "up to 1"}},
      {R"("rope": {"partial_rotary_factor": 0.02})", {"0.02", "head_dim 64", "rotary_dim 1"}},
      {R"("rope": {"pairing": "neoxx"})", {"/rope/pairing", "neox, gptj", "nearest: \"neox\""}},
      {R"("rope": {"direction": "back"})", {"/rope/direction", "forward, reversed"}},
      {R"("rope": {"seq_len": 0})", {"/rope/seq_len: 0", "from 1"}},
      {R"("rope": {"table": {"angle": "exakt"}})", {"/rope/table/angle", "nearest: \"exact\""}},
      {R"("rope": {"table": {"dtype": "f64"}})", {"/rope/table/dtype", "f32, f16, bf16, data"}},
      {R"("rope": {"table": {"rows": 0}})", {"/rope/table/rows: 0"}},
      {R"("rope": {"table": 4})", {"/rope/table: 4 is not allowed", "an object"}},
      {R"("rope": [])", {"/rope: [] is not allowed", "an object"}},
      {R"("rope": {"axes": {"kind": "mropes"}})", {"/rope/axes/kind", "nearest: \"mrope\""}},
      {R"("rope": {"axes": {"kind": "mrope", "section": [1, -1, 32]}})",
       {"/rope/axes/section/1: -1"}},
      {R"("rope": {"query_scale": {"beta": 0.1}})", {"query_scale needs both"}},
      {R"("measure": {"min_time_ms": 1500, "max_time_s": 0.1})",
       {"measure.min_time_ms 1500 is above measure.max_time_s 0.1, which is in s"}},
      {R"("rope": {"query_scale": {"beta": -1, "original_max_position_embeddings": 2}})",
       {"/rope/query_scale/beta: -1"}},
      {R"("op": "ropes")", {"/op: \"ropes\"", "split_rope", "nearest: \"rope\""}},
      {R"("op": 1)", {"/op: 1 is not allowed"}},
      {R"("variant": "fats")", {"/variant", "naive, per_head", "nearest: \"fast\""}},
      {R"("dtype": "fp16")", {"/dtype", "f32, f16, bf16", "nearest: \"f16\""}},
      {R"("norm": {"eps": 0})", {"/norm/eps: 0"}},  // C108
      {R"("norm": {"eps": -1e-6})", {"/norm/eps: -1e-6 is not"}},
      {R"("norm": {"eps": 1e-38})", {"/norm/eps: 1e-38", "at least 1.1754943508222875e-38"}},
      {R"("norm": {"weight_offset": 2})", {"/norm/weight_offset: 2", "0 or 1"}},
      {R"("norm": {"span": "tensor"})", {"/norm/span", "head, row"}},
      {R"("norm": {"order": "behind"})", {"/norm/order", "before, after"}},
      {R"("norm": true)", {"/norm: true", "an object"}},
      {R"("qkv_bias": 1)", {"/qkv_bias: 1", "true or false"}},
      {R"("layout": {"in_place": "yes"})", {"/layout/in_place", "true or false"}},
      {R"("layout": {"order": "bhsd"})", {"/layout/order", "heads_tokens_dim"}},
      {R"("layout": {"q": {"token_stride": -1}})", {"/layout/q/token_stride: -1"}},
      {R"("layout": {"v": {}})", {"/layout/v", "unknown key \"v\"", "known here", "q, k"}},
      {R"("seq_lens": [])", {"/seq_lens: []", "list of integers"}},
      {R"("varlen": {"source": "lens"})", {"/varlen/source", "cu_seqlens"}},
      {R"("positions": "sequentiel")", {"/positions", "nearest: \"sequential\""}},
      {R"("positions": [1, 2.5, 3, 4])", {"/positions/1: 2.5", "allowed: an integer,"}},
      {R"("position_dtype": "int16")", {"/position_dtype", "int32, int64"}},
      {R"("data": "gauss")", {"/data", "normal, uniform, wide, subnormal, cancel"}},
      {R"("seed": -1)", {"/seed: -1", "0 to 18446744073709551615"}},
      {R"("seed": 18446744073709551616)", {"/seed", "18446744073709551615"}},
      {R"("measure": {"cache": "hot"})", {"/measure/cache", "cold, warm, both"}},
      {R"("measure": {"precision": 0})", {"/measure/precision: 0"}},
      {R"("measure": {"max_time_s": 0})", {"/measure/max_time_s: 0"}},
      {R"("name": 7)", {"/name: 7", "a text"}},
      {R"("name": "a\nb")", {"/name", "control characters"}},
      {R"("name": ["a", "b"])", {"/name"}},  // not an axis
      {R"("tokns": 4)", {"/tokns", "unknown key \"tokns\"", "nearest: \"tokens\""}},
      {R"("theta": 4)", {"unknown key \"theta\"", "nearest: \"rope.theta\""}},
      {R"("norm": {"given": true})", {"unknown key \"given\""}},  // the reader's own
      {R"("residual": true)", {"/residual", "unknown key \"residual\"", "known here"}},  // C114
      {R"("cases": {})", {"/cases: {}", "a list of at least one object"}},
      {R"("cases": [])", {"/cases: []"}},
      {R"("cases": [1])", {"/cases/0: 1", "an object"}},
      {R"("cases": [{"cases": []}])", {"/cases/0/cases", "\"cases\" is not allowed here"}},
      {R"("cases": [{}, {"dtype": "f8"}])", {"/cases/1/dtype: \"f8\""}},
  };
  for (const Row& row : rows) {
    std::vector<std::string> parts = row.parts;
    parts.push_back("t.json:1:");
    expect_error(config_with(row.member), parts);
  }
}

TEST(Values, NumbersAtTheirLimits) {
  EXPECT_EQ(only_case(config_with(R"("norm": {"eps": 1.2e-38}, "op": "norm_split_rope")")).norm.eps,
            1.2e-38);
  EXPECT_EQ(only_case(config_with(R"("rope": {"theta": 1e11})")).rope.theta, 1e11);  // Falcon-H1
  EXPECT_EQ(only_case(config_with(R"("rope": {"theta": 1e-300})")).rope.theta, 1e-300);
  // A number without a fraction is an integer however it is written.
  EXPECT_EQ(only_case(config_with(R"("rope": {"rotary_dim": 32.0})")).rope.rotary_dim, 32);
  EXPECT_EQ(only_case(config_with(R"("rope": {"seq_len": 1e6})")).rope.seq_len, 1000000);
}

TEST(Values, MissingKeysAreNamed) {
  expect_error("{}", {"t.json: /model/num_heads: missing"});
  expect_error(R"({"model": {"num_heads": 4}, "tokens": 1})", {"/model/head_dim: missing", "even"});
  expect_error(R"({"model": {"num_heads": 4, "head_dim": 64}})", {"/tokens: missing"});
  expect_error(R"({"model": {"num_heads": null, "head_dim": 64}, "tokens": 1})",
               {"/model/num_heads: missing"});
}

TEST(Values, NullMeansAbsent) {
  const RopeCase c = only_case(
      config_with(R"("rope": {"rotary_dim": null, "scaling": null, "axes": null, "theta": null},
                     "norm": null, "varlen": null, "positions": null, "seed": null, "cases": null,
                     "layout": {"q": null, "in_place": null}, "measure": null)"));
  EXPECT_EQ(c.rope.rotary_dim, 64);
  EXPECT_EQ(c.rope.theta, 10000);
  EXPECT_FALSE(c.norm.given);
  EXPECT_FALSE(c.varlen.given);
  EXPECT_TRUE(c.layout.in_place);
}

TEST(Values, PairingAliases) {
  struct Row {
    const char* rope;
    Pairing pairing;
    int64_t rotary_dim;
    Op op;
  };
  const Row rows[] = {
      {R"({"pairing": "neox"})", Pairing::kNeox, 64, Op::kRope},
      {R"({"pairing": "gptj"})", Pairing::kGptj, 64, Op::kRope},
      {R"({"pairing": "interleaved"})", Pairing::kGptj, 64, Op::kRope},
      {R"({"pairing": "partial"})", Pairing::kNeox, 32, Op::kRope},
      {R"({"pairing": "partial", "rotary_dim": 16})", Pairing::kNeox, 16, Op::kRope},
      {R"({"pairing": "partial", "partial_rotary_factor": 0.25})", Pairing::kNeox, 16, Op::kRope},
      {R"({"pairing": "fused_neox"})", Pairing::kNeox, 64, Op::kSplitRope},
      {R"({"pairing": "gptj", "partial_rotary_factor": 0.5})", Pairing::kGptj, 32, Op::kRope},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rope);
    const RopeCase c = only_case(config_with(std::string(R"("rope": )") + row.rope));
    EXPECT_EQ(c.rope.pairing, row.pairing);
    EXPECT_EQ(c.rope.rotary_dim, row.rotary_dim);
    EXPECT_EQ(c.op, row.op);
    EXPECT_EQ(c.layout.in_place, row.op == Op::kRope);
  }
  expect_error(config_with(R"("op": "rope_backward", "rope": {"pairing": "fused_neox"})"),
               {"fused_neox", "split_rope", "op is rope_backward"});
  EXPECT_EQ(only_case(config_with(R"("op": "split_rope", "rope": {"pairing": "fused_neox"})")).op,
            Op::kSplitRope);
  // Half of 70 is odd.
  expect_error(R"({"model": {"num_heads": 2, "head_dim": 70}, "tokens": 1,
                  "rope": {"pairing": "partial"}})",
               {"/rope/pairing", "head_dim 70", "rotary_dim 35", "even"});
}

TEST(Values, PartialRotaryFactorIsTruncated) {  // C022, C017
  struct Row {
    int head_dim;
    const char* factor;
    int64_t rotary_dim;  // 0: refused
  };
  const Row rows[] = {{192, "0.334", 64}, {192, "0.33", 0}, {100, "0.57", 56},
                      {80, "0.4", 32},    {80, "0.25", 20}, {64, "1", 64}};
  for (const Row& row : rows) {
    const std::string text =
        R"({"model": {"num_heads": 1, "head_dim": )" + std::to_string(row.head_dim) +
        R"(}, "tokens": 1, "rope": {"partial_rotary_factor": )" + row.factor + "}}";
    if (row.rotary_dim == 0) {
      expect_error(text, {"/rope/partial_rotary_factor", "truncated to rotary_dim 63", "even"});
    } else {
      EXPECT_EQ(only_case(text).rope.rotary_dim, row.rotary_dim) << text;
    }
  }
}

TEST(Values, RotaryDimAtItsEnds) {  // C027
  EXPECT_EQ(only_case(config_with(R"("rope": {"rotary_dim": 64})")).rope.rotary_dim, 64);
  EXPECT_EQ(only_case(config_with(R"("rope": {"rotary_dim": 2})")).rope.rotary_dim, 2);
}

TEST(Values, TwoWaysOfSayingTheSameAreRefused) {
  expect_error(config_with(R"("rope": {"rotary_dim": 32, "partial_rotary_factor": 0.5})"),
               {"/rope/partial_rotary_factor", "together with /rope/rotary_dim"});
  expect_error(config_of_model(R"("num_heads": 8, "num_kv_heads": 2, "gqa_ratio": 4,
                                  "head_dim": 8)"),
               {"/model/gqa_ratio", "together with /model/num_kv_heads"});
}

TEST(Values, PartsWithoutEffectAreSaid) {
  const LoadedConfig config =
      parse(config_with(R"("norm": {}, "qkv_bias": true, "varlen": {"output": "padded"})"));
  EXPECT_EQ(config.warnings, (std::vector<std::string>{"norm has no effect on op rope",
                                                       "qkv_bias has no effect on op rope",
                                                       "varlen has no effect on op rope"}));
  const LoadedConfig split = parse(config_with(R"("norm": {}, "op": "split_rope")"));
  ASSERT_EQ(split.warnings.size(), 1u);
  EXPECT_EQ(split.warnings[0], "norm has no effect on op split_rope");
  EXPECT_TRUE(config.cases[0].norm.given);
  EXPECT_TRUE(parse(config_with(R"("norm": {}, "op": "norm_split_rope")")).warnings.empty());
}

TEST(Values, MessagesQuoteWhatWasWritten) {
  expect_error(config_with(R"("rope": {"theta": -1.50e3})"), {"/rope/theta: -1.50e3 is not"});
  Overrides set;
  set.set = {"tokens=2.50"};
  expect_error(config_with(""), {"--set tokens=2.50: /tokens: 2.50 is not allowed"}, set);
  set.set = {"tokens=99999999999999999999999"};
  expect_error(config_with(""), {"/tokens: 99999999999999999999999 is out of range; allowed: an"},
               set);
  set.set = {"tokens=null"};
  expect_error(config_with(""), {"--set tokens=null: /tokens: missing"}, set);
}

TEST(Values, AHuggingFaceConfigIsRecognised) {
  expect_error(R"({"_name_or_path": "x", "architectures": ["LlamaForCausalLM"]})",
               {"t.json:1:2: /_name_or_path: this looks like a Hugging Face config; read it with "
                "--hf t.json"});
}

TEST(Values, ParsingIsPure) {  // C018
  const std::string text =
      R"({"model": {"num_heads": 32, "num_kv_heads": 2, "head_dim": 128}, "tokens": 1,
          "rope": {"pairing": "gptj", "rotary_dim": 64}})";
  Overrides sweep;
  sweep.axis = {"tokens=1-40+1"};
  for (int pass = 0; pass < 2; ++pass) {
    const LoadedConfig config = parse(text, sweep);
    ASSERT_EQ(config.cases.size(), 40u);
    for (const RopeCase& c : config.cases) EXPECT_EQ(c.rope.rotary_dim, 64);
  }
}

}  // namespace
}  // namespace rope_bench::testing
