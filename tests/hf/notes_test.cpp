// What is refused, warned of and said, with the place in the user's file.
#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(HfNotes, UnknownFamiliesSayWhatToSet) {
  const std::string text =
      R"({"model_type": "lama", "hidden_size": 512, "num_attention_heads": 8})";
  expect_error(text, {"t.json:1:16: /model_type: \"lama\" is no family", "nearest: \"llama\"",
                      "--set rope.pairing=neox", "--set rope.pairing=gptj", "list families"});
  EXPECT_EQ(only_case(read(text, set({"tokens=1", "rope.pairing=gptj"}))).rope.pairing,
            Pairing::kGptj);
  EXPECT_EQ(only_case(read(text, set({"tokens=1", R"(rope={"pairing": "neox"})"}))).rope.pairing,
            Pairing::kNeox);
  const std::string nameless = R"({"architectures": ["X"], "hidden_size": 512, "n_head": 8})";
  expect_error(nameless, {"/model_type: missing", "--set rope.pairing=neox"});
  EXPECT_EQ(only_case(read(nameless, set({"tokens=1", "rope.pairing=neox"}))).head_dim, 64);
}

TEST(HfNotes, ModelsWithoutRopeAreRefusedByName) {
  struct Row {
    const char* text;
    const char* reason;
  };
  for (const Row& row : {
           Row{R"({"model_type": "bloom"})",
               "/model_type: this model has no RoPE: bloom has ALiBi"},
           Row{R"({"model_type": "mpt", "attn_config": {"alibi": true}})", "ALiBi"},
           Row{R"({"model_type": "gpt2"})", "gpt2 has learned position embeddings"},
           Row{R"({"model_type": "opt"})", "learned"},
           Row{R"({"model_type": "bert"})", "learned"},
           Row{R"({"model_type": "t5"})", "relative position biases"},
           Row{R"({"model_type": "mamba2"})", "state-space"},
           Row{R"({"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40})",
               "/hidden_size: this model has no RoPE: baichuan of hidden_size 5120 has ALiBi"},
           Row{R"({"model_type": "falcon", "alibi": true})", "/alibi: this model has no RoPE"},
           Row{R"({"model_type": "hf_olmo", "rope": false})", "/rope: this model has no RoPE"},
           Row{R"({"model_type": "granite", "position_embedding_type": "alibi"})",
               "position_embedding_type is \"alibi\""},
           Row{R"({"model_type": "granitemoehybrid", "position_embedding_type": "nope"})",
               "/position_embedding_type: this model has no RoPE"},
           Row{R"({"model_type": "granitemoehybrid"})", "this model has no RoPE"},
           Row{R"({"model_type": "esm", "position_embedding_type": "absolute"})", "no RoPE"},
       }) {
    expect_error(row.text, {row.reason});
  }
  EXPECT_EQ(
      only_case(read(R"({"model_type": "esm", "position_embedding_type": "rotary"})")).head_dim,
      64);
  EXPECT_EQ(
      only_case(read(R"({"model_type": "mpt", "d_model": 512, "n_heads": 8, "max_seq_len": 512,
                               "attn_config": {"rope": true, "rope_theta": 20000}})"))
          .rope.theta,
      20000);
  expect_error(R"({"model_type": "chatglm", "position_encoding_2d": true})",
               {"/position_encoding_2d: each half of a head"});
}

TEST(HfNotes, OlderNamesOfTheSameThings) {
  const RopeCase epoch = only_case(read(R"({"model_type": "stablelm_epoch", "hidden_size": 2560,
      "num_heads": 32, "num_key_value_heads": 32, "rope_pct": 0.25, "rope_theta": 10000,
      "max_position_embeddings": 4096})"));
  EXPECT_EQ(epoch.rope.rotary_dim, 20);
  const RopeCase olmo = only_case(read(R"({"model_type": "hf_olmo", "d_model": 4096,
      "n_heads": 32, "rope": true, "alibi": false, "max_sequence_length": 2048})"));
  EXPECT_EQ(olmo.max_position, 2048);
  EXPECT_EQ(olmo.head_dim, 128);
  const LoadedConfig flat = read(llama(R"("rope_scaling_factor": 4)"));
  EXPECT_EQ(only_case(flat).rope.scaling.type, "linear");
  EXPECT_NOTE(flat, true, "/rope_scaling_factor", "linear is assumed");
  const LoadedConfig text = read(llama(R"("rope_theta": "500000.0")"));
  EXPECT_EQ(only_case(text).rope.theta, 5e5);
  EXPECT_NOTE(text, true, "/rope_theta", "theta is a text");
  EXPECT_EQ(only_case(read(llama(R"("rope_theta": 500000)"))).rope.theta, 5e5);
  const RopeCase internlm = only_case(read(R"({"model_type": "internlm", "rotary":
      {"base": 20000, "type": "origin"}})"));
  EXPECT_EQ(internlm.rope.theta, 20000);
}

TEST(HfNotes, InconsistenciesAreWarnedOf) {
  const LoadedConfig maxima = read(changed("aya-23-8b", {{"model_max_length", 131072}}));
  EXPECT_EQ(only_case(maxima).max_position, 8192);
  EXPECT_NOTE(maxima, true, "/model_max_length",
              "131072 disagrees with max_position_embeddings 8192");
  const LoadedConfig yarn = read(changed(
      "qwen2.5-7b",
      {{"max_position_embeddings", 32768},
       {"rope_scaling",
        {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}}}}));
  EXPECT_NOTE(
      yarn, true, "/rope_scaling/factor",
      "factor 4 x original length 32768 = 131072 contradicts max_position_embeddings 32768");
  const LoadedConfig alone = read(llama(
      R"("max_position_embeddings": 163840, "rope_scaling": {"type": "yarn", "factor": 40,
         "mscale": 0.707, "original_max_position_embeddings": 4096})"));
  EXPECT_NOTE(alone, true, "/rope_scaling/mscale", "inert");
  EXPECT_NEAR(attention_factor(only_case(alone)), 1.3688879454113936, 1e-15);
  EXPECT_NOTE(read_file("ministral-3-3b"), true, "/text_config/rope_parameters/mscale",
              "the pair is inert");
  // DeepSeek's pair means something: no warning.
  for (const ConfigNote& note : read_file("deepseek-v3").notes) {
    EXPECT_FALSE(note.warning) << note.text;
  }
  const LoadedConfig thetas = read(llama(
      R"("rope_theta": 10000, "rope_parameters": {"rope_type": "default", "rope_theta": 500000})"));
  EXPECT_EQ(only_case(thetas).rope.theta, 5e5);
  EXPECT_NOTE(thetas, true, "/rope_parameters/rope_theta", "disagrees with /rope_theta 10000");
  const LoadedConfig dims = read(changed("ling-mini-2.0", {{"rotary_dim", 32}}));
  EXPECT_EQ(only_case(dims).rope.rotary_dim, 64);
  EXPECT_NOTE(dims, true, "/rotary_dim", "disagrees");
  const LoadedConfig original = read(changed(
      "phi-4-mini",
      {{"original_max_position_embeddings", 8192},
       {"rope_scaling", [] {
          auto s = nlohmann::ordered_json::parse(file_text("phi-4-mini")).at("rope_scaling");
          s["original_max_position_embeddings"] = 4096;
          return s;
        }()}}));
  EXPECT_EQ(param(only_case(original), "original_max_position_embeddings"), 8192);
  EXPECT_NOTE(original, true, "/rope_scaling/original_max_position_embeddings", "the latter wins");
  EXPECT_NOTE(read(changed("internlm3-8b", {{"rope_scaling",
                                             {{"rope_type", "dynamic"},
                                              {"factor", 2.0},
                                              {"original_max_position_embeddings", 4096}}}})),
              true, "/rope_scaling/original_max_position_embeddings", "inert");
}

// Good files say what they say, not what is wrong with them.
TEST(HfNotes, OrdinaryModelsHaveNoWarnings) {
  for (const char* file : {"llama-2-7b", "llama-3.1-8b", "qwen3-8b", "gpt-oss-20b", "phi-3.5-mini",
                           "gemma-3-27b-it", "kimi-k2-instruct", "pythia-2.8b", "glm-4.5-air",
                           "laguna-xs.2-structure", "qwen2-vl-7b", "falcon-40b"}) {
    const LoadedConfig config = read_file(file);
    for (const ConfigNote& note : config.notes) EXPECT_FALSE(note.warning) << file << note.text;
    EXPECT_TRUE(config.warnings.empty()) << file;
    EXPECT_FALSE(config.notes.empty());
  }
}

TEST(HfNotes, ErrorsOfTheConfigNameTheModelsFile) {
  expect_error("{\n \"model_type\": \"llama\",\n \"rope_theta\": 0\n}",
               {"t.json:3:16: /rope_theta: 0 is not allowed; allowed: a finite number above 0"});
  expect_error(llama(R"("num_key_value_heads": 3)"),
               {"/num_key_value_heads: num_kv_heads 3 does not divide num_heads 8"});
  expect_error(llama(R"("rope_scaling": {"type": "linear", "factor": 0})"),
               {"/rope_scaling/factor: 0 is not allowed"});
  expect_error(llama(R"("rope_scaling": {"type": "linear", "factor": [2, 4]})"),
               {"/rope_scaling/factor: [2,4] is not allowed; allowed: a finite number"});
  expect_error(
      llama(R"("rope_scaling": {"type": "lineal", "factor": 2})"),
      {"/rope_scaling/type: \"lineal\" is not allowed; allowed: default,", "nearest: \"linear\""});
  expect_error(llama(R"("rope_scaling": [])"), {"/rope_scaling: [] is not allowed"});
  expect_error(R"({"model_type": "llama", "num_attention_heads": "many"})",
               {"/num_attention_heads: \"many\" is not allowed; allowed: an integer from 1"});
  expect_error(R"({"model_type": 3})", {"/model_type: 3 is not allowed; allowed: a text"});
  expect_error(R"({"model_type": "orion", "hidden_size": 512})",
               {"/num_attention_heads: missing", "--set model.num_heads"});
  expect_error("[]", {"not a model's config.json"});
  expect_error(R"({"model": {"num_heads": 8}})", {"read it with --config"});
  std::string list = "[1.0";
  for (int i = 0; i < 46; ++i) list += ", 1.0";
  EXPECT_NE(error_of(changed("phi-4-mini",
                             {{"rope_scaling",
                               {{"type", "longrope"},
                                {"short_factor", nlohmann::ordered_json::parse(list + "]")},
                                {"long_factor", nlohmann::ordered_json::parse(list + "]")}}}}))
                .find("/rope_scaling/"),
            std::string::npos);
}

TEST(HfNotes, OverridesLieOverTheModel) {
  const Overrides overrides =
      set({"tokens=7", "dtype=f16", "rope.theta=20000", "model.num_kv_heads=4"});
  const RopeCase c = only_case(read_file("llama-3.1-8b", overrides));
  EXPECT_EQ(c.tokens, 7);
  EXPECT_EQ(c.dtype, Dtype::kF16);
  EXPECT_EQ(c.rope.theta, 20000);
  EXPECT_EQ(c.num_kv_heads, 4);
  Overrides axis;
  axis.axis = {"tokens=1,2,3"};
  EXPECT_EQ(read_file("llama-3.1-8b", axis).cases.size(), 3u);
  EXPECT_EQ(only_case(read(R"({"model_type": "orion", "hidden_size": 512})",
                           set({"tokens=1", "model.num_heads=8", "model.head_dim=64"})))
                .num_heads,
            8);
}

// A family with an RMS norm of q and k runs as the op that does both, with the norm of its class.
TEST(HfNotes, NormOfTheFusedOp) {
  const RopeCase qwen = only_case(read_file("qwen3-next-80b-a3b"));
  EXPECT_EQ(qwen.op, Op::kNormSplitRope);
  EXPECT_FALSE(qwen.layout.in_place);
  EXPECT_TRUE(qwen.norm.weight);
  EXPECT_TRUE(qwen.norm.given);
  EXPECT_EQ(qwen.norm.weight_offset, 1);
  EXPECT_EQ(qwen.norm.eps, 1e-6);
  EXPECT_FALSE(qwen.norm.span_row || qwen.norm.after_rotation);
  const RopeCase olmo = only_case(read_file("olmo-2-7b"));
  EXPECT_EQ(olmo.op, Op::kNormSplitRope);
  EXPECT_TRUE(olmo.norm.span_row);
  EXPECT_EQ(olmo.norm.weight_offset, 0);
  const RopeCase hunyuan =
      only_case(read(R"({"model_type": "hunyuan_v1_dense", "rms_norm_eps": 1e-5})"));
  EXPECT_EQ(hunyuan.op, Op::kNormSplitRope);
  EXPECT_TRUE(hunyuan.norm.after_rotation);
  EXPECT_EQ(hunyuan.norm.eps, 1e-5);
  const RopeCase without = only_case(
      read(R"({"model_type": "nanochat", "hidden_size": 768, "num_attention_heads": 6})"));
  EXPECT_EQ(without.op, Op::kNormSplitRope);
  EXPECT_FALSE(without.norm.weight);
  EXPECT_TRUE(without.norm.after_rotation);
  EXPECT_NOTE(read_file("qwen3-8b"), false, "", "op norm_split_rope does it");
}

// Whoever wants the rotation alone gets no norm, and no warning about one. Norms that no op does
// leave the rotation.
TEST(HfNotes, RotationAloneOfAFamilyWithANorm) {
  const LoadedConfig alone = read_file("qwen3-8b", set({"tokens=1", "op=rope"}));
  EXPECT_EQ(only_case(alone).op, Op::kRope);
  EXPECT_FALSE(only_case(alone).norm.given);
  EXPECT_TRUE(alone.warnings.empty()) << alone.warnings[0];
  const LoadedConfig persimmon = read_file("persimmon-8b");
  EXPECT_EQ(only_case(persimmon).op, Op::kRope);
  EXPECT_NOTE(persimmon, false, "", "qk-norm per head LayerNorm: no op here does it");
  EXPECT_EQ(only_case(read_file("llama-3.1-8b")).op, Op::kRope);
  EXPECT_EQ(only_case(read_file("deepseek-v3")).op, Op::kRope);
}

TEST(HfNotes, NumbersThatPythonWrites) {
  const LoadedConfig config =
      read(llama(R"("time_step_limit": [0.0, Infinity], "x": NaN, "y": -Infinity, "z": "NaN")"));
  EXPECT_EQ(config.cases.size(), 1u);
  expect_error(llama("\"rope_theta\": NaN"), {"/rope_theta: ", "is not allowed"});
  expect_error(llama("\"rope_theta\": Infinite"), {"t.json:1:"});
}

}  // namespace
}  // namespace rope_bench::testing
