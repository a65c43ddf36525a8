// Parameter sets, nested objects, position axes and layers without RoPE.
#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

TEST(HfSets, ListsWithAnEntryPerLayer) {
  const LoadedConfig config = read(R"({
      "model_type": "step3p5", "hidden_size": 4096, "num_attention_heads": 64,
      "num_attention_groups": 8, "head_dim": 128, "max_position_embeddings": 262144,
      "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
      "rope_theta": [5000000.0, 10000.0, 10000.0, 5000000.0],
      "partial_rotary_factors": [0.5, 1.0, 1.0, 0.5],
      "yarn_only_types": ["full_attention"],
      "rope_scaling": {"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0,
                       "high_freq_factor": 32.0, "original_max_position_embeddings": 131072}})");
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_TRUE(config.cases[0].name.starts_with("t/full_attention/"));
  EXPECT_EQ(config.cases[0].num_kv_heads, 8);
  EXPECT_EQ(config.cases[0].rope.theta, 5e6);
  EXPECT_EQ(config.cases[0].rope.rotary_dim, 64);
  EXPECT_EQ(config.cases[0].rope.scaling.type, "llama3");
  EXPECT_EQ(config.cases[1].rope.theta, 1e4);
  EXPECT_EQ(config.cases[1].rope.rotary_dim, 128);
  EXPECT_EQ(config.cases[1].rope.scaling.type, "none");
  expect_error(llama(R"("rope_theta": [])"), {"/rope_theta"});
  expect_error(llama(R"("rope_theta": [10000, "x"])"), {"/rope_theta/1: \"x\" is not allowed"});
}

TEST(HfSets, GlobalAndLocalThetaInFlatKeys) {
  const LoadedConfig bert = read(R"({"model_type": "modernbert", "hidden_size": 768,
      "num_attention_heads": 12, "global_rope_theta": 160000.0, "local_rope_theta": 10000.0})");
  ASSERT_EQ(bert.cases.size(), 2u);
  EXPECT_EQ(bert.cases[0].rope.theta, 160000);
  EXPECT_EQ(bert.cases[1].rope.theta, 10000);
  // null: the layers are all alike.
  EXPECT_EQ(read(R"({"model_type": "modernbert", "local_rope_theta": null})").cases.size(), 1u);
  // MiMo without a second theta.
  EXPECT_EQ(read(changed("mimo-v2-flash", {}, {"swa_rope_theta"})).cases.size(), 1u);
}

TEST(HfSets, OlmoThreeScalesFullLayersAlone) {
  EXPECT_EQ(read(changed("olmo-3-32b-think", {}, {"rope_scaling"})).cases.size(), 1u);
  EXPECT_NOTE(read_file("olmo-3-32b-think"), false, "", "sliding-window layers are not scaled");
}

TEST(HfSets, VisionTowersWhenAsked) {
  const std::string text = R"({"model_type": "qwen2_vl", "hidden_size": 3584,
      "num_attention_heads": 28, "num_key_value_heads": 4,
      "vision_config": {"embed_dim": 1280, "num_heads": 16, "hidden_size": 3584}})";
  EXPECT_EQ(only_case(read(text)).num_heads, 28);
  const RopeCase tower = only_case(read(text, set({"tokens=1"}), "/vision_config"));
  EXPECT_EQ(tower.num_heads, 16);
  EXPECT_EQ(tower.num_kv_heads, 16);
  EXPECT_EQ(tower.head_dim, 80);
  EXPECT_EQ(tower.rope.axes.kind, "vision_2d");
  EXPECT_EQ(tower.rope.pairing, Pairing::kNeox);
  expect_error(text, {"no object \"visual\" here; objects: /vision_config"}, set({}), "/visual");
  expect_error(
      R"({"model_type": "gemma3", "vision_config": {"model_type": "siglip_vision_model"}})",
      {"/vision_config/model_type", "no RoPE", "learned position embeddings"}, set({}),
      "/vision_config");
  expect_error(R"({"model_type": "mistral3", "vision_config": {"model_type": "pixtral"}})",
               {"/vision_config/model_type: pixtral: its image axes"}, set({}), "/vision_config");
}

TEST(HfSets, PositionAxes) {
  const auto with = [](const std::string& type, const std::string& scaling) {
    return only_case(read(R"({"model_type": ")" + type + R"(", "hidden_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "rope_scaling": )" +
                          scaling + "}"))
        .rope;
  };
  const Rope three = with("qwen3_vl_text",
                          R"({"rope_type": "default", "mrope_section": [24, 20, 20],
                              "mrope_interleaved": true})");
  EXPECT_EQ(three.axes.kind, "mrope_interleaved");
  EXPECT_EQ(three.scaling.type, "none");
  const Rope saved = with("qwen2_vl", R"({"type": "mrope", "rope_type": "default",
                                          "mrope_section": [16, 24, 24]})");
  EXPECT_EQ(saved.axes.kind, "mrope");
  const Rope longer = with("qwen2_5_vl", R"({"type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 32768, "mrope_section": [16, 24, 24]})");
  EXPECT_EQ(longer.axes.kind, "mrope");
  EXPECT_EQ(longer.scaling.type, "yarn");
  const Rope ernie = with("ernie4_5_vl_moe", R"({"mrope_section": [22, 22, 20]})");
  EXPECT_EQ(ernie.axes.kind, "ernie");
  const Rope hunyuan = with("hunyuan_vl", R"({"type": "xdrope", "alpha": 1000.0, "factor": 1.0,
                                              "xdrope_section": [16, 16, 16, 16]})");
  EXPECT_EQ(hunyuan.axes.kind, "xdrope");
  EXPECT_EQ(hunyuan.scaling.type, "ntk");
  expect_error(R"({"model_type": "qwen2_vl", "rope_scaling": {"type": "mrope",
                   "mrope_section": [16, 24, 23]}})",
               {"/rope_scaling/mrope_section"});
  expect_error(R"({"model_type": "qwen2_vl", "rope_scaling": {"mrope_section": 3}})",
               {"/rope_scaling/mrope_section: 3 is not allowed"});
  expect_error(R"({"model_type": "qwen2_vl", "rope_scaling": {"mrope_section": [[1], [2]]}})",
               {"/rope_scaling/mrope_section: [[1],[2]] is not allowed"});
}

TEST(HfSets, LayersWithoutRope) {
  const std::string smol = R"({"model_type": "smollm3", "hidden_size": 2048)";
  EXPECT_NOTE(read(smol + "}"), false, "", "every 4. layer has no RoPE: class default");
  EXPECT_NOTE(read(smol + R"(, "no_rope_layer_interval": 6})"), false, "/no_rope_layer_interval",
              "every 6. layer has no RoPE");
  EXPECT_NOTE(read(smol + R"(, "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]})"), false,
              "/no_rope_layers", "2 of 8 layers have no RoPE: 3, 7");
  EXPECT_NOTE(read(R"({"model_type": "cohere2"})"), false, "", "no RoPE in full-attention layers");
}

TEST(HfSets, HunyuanAlphaIsAFixedBase) {
  const RopeCase c = only_case(read(R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096,
      "num_attention_heads": 32, "head_dim": 128, "max_position_embeddings": 32768,
      "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32}})"));
  EXPECT_EQ(c.rope.scaling.type, "ntk");
  // theta' = 1e4 * 1000^(128/126) = 1.116e7.
  EXPECT_NEAR(1 / static_cast<double>(frequencies_of(c).exact[1]), std::pow(1.1158868e7, 2. / 128),
              1e-6);
}

TEST(HfSets, TelechatHasASlopeOfItsOwn) {
  const RopeCase c = only_case(read(R"({"model_type": "telechat3", "hidden_size": 512,
      "num_attention_heads": 8, "max_position_embeddings": 65536, "rope_scaling":
      {"type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}})"));
  EXPECT_NEAR(attention_factor(c), 1.1940812, 1e-6);
}

TEST(HfSets, FlagsOfThePairing) {
  EXPECT_EQ(only_case(read(changed("deepseek-v3", {{"rope_interleave", false}}))).rope.pairing,
            Pairing::kNeox);
  const LoadedConfig bert = read(R"({"model_type": "nomic_bert", "n_embd": 768, "n_head": 12,
      "rotary_emb_fraction": 0.5, "rotary_emb_base": 1000, "rotary_emb_interleaved": true})");
  EXPECT_EQ(only_case(bert).rope.pairing, Pairing::kGptj);
  EXPECT_EQ(only_case(bert).rope.rotary_dim, 32);
  EXPECT_EQ(only_case(bert).rope.theta, 1000);
  EXPECT_NOTE(bert, false, "/rotary_emb_interleaved", "pairing gptj");
}

TEST(HfSets, SeveralModelsAreOneConfig) {
  const LoadedConfig config = parse_hf({{"a.json", file_text("llama-2-7b"), "", "a"},
                                        {"b.json", file_text("gemma-3-1b-it"), "", "b"}},
                                       scaling_catalog(), set({"tokens=1"}), ScalingCheck());
  ASSERT_EQ(config.cases.size(), 3u);
  EXPECT_EQ(config.cases[0].name, "models/a/rope/fast/f16/T1");
  EXPECT_EQ(config.cases[1].name, "models/b:full_attention/norm_split_rope/fast/bf16/T1");
  EXPECT_EQ(config.cases[2].name, "models/b:sliding_attention/norm_split_rope/fast/bf16/T1");
  ASSERT_EQ(config.models.size(), 3u);
  EXPECT_EQ(config.models[2].case_prefix, "models/b:sliding_attention");
}

}  // namespace
}  // namespace rope_bench::testing
