// Faults that other readers of these files have had; ids as in tests/cases.md.
#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

using Json = nlohmann::ordered_json;

// Its highest and lowest frequency are what tells rotary dims apart.
double last_inv_freq(const RopeCase& c) {
  return static_cast<double>(frequencies_of(c).exact.back());
}

std::string family(const std::string& type) {
  return R"({"model_type": ")" + type + R"(", "hidden_size": 2048, "num_attention_heads": 16})";
}

TEST(HfCases, PairingOfEachFamily) {  // C004
  for (const char* type : {"llama", "qwen2", "qwen3", "phi", "phi3", "gpt_neox", "gpt_oss"}) {
    EXPECT_EQ(only_case(read(family(type))).rope.pairing, Pairing::kNeox) << type;
  }
  for (const char* type :
       {"gptj", "codegen", "cohere", "glm", "chatglm", "ernie4_5", "deepseek_v2", "deepseek_v3"}) {
    const LoadedConfig config = read(family(type));
    EXPECT_EQ(only_case(config).rope.pairing, Pairing::kGptj) << type;
    EXPECT_NOTE(config, false, "/model_type", "pairing gptj");
  }
  // The rope part of MLA: the same dot products in another order.
  EXPECT_NOTE(read(family("deepseek_v3")), false, "/model_type", "same dot products");
}

TEST(HfCases, RotatedShareIsOfTheCheckpoint) {  // C017
  for (const char* file : {"phi-2", "phi-2-legacy"}) {
    const RopeCase phi = only_case(read_file(file));
    EXPECT_EQ(phi.rope.rotary_dim, 32);
    EXPECT_NEAR(last_inv_freq(phi), 0.000177827941004, 1e-15);
  }
  const RopeCase pythia = only_case(read_file("pythia-2.8b"));
  EXPECT_EQ(pythia.rope.rotary_dim, 20);
  EXPECT_NEAR(last_inv_freq(pythia), 0.000251188643151, 1e-15);
}

TEST(HfCases, ReadingIsPure) {  // C018
  const std::string text = file_text("glm-4-9b-chat-remote");
  const LoadedConfig first = read(text);
  Overrides sweep;
  sweep.axis = {"tokens=1-40+1"};
  const LoadedConfig second = read(text, sweep);
  EXPECT_EQ(first.resolved_json, read(text).resolved_json);
  ASSERT_EQ(second.cases.size(), 40u);
  for (const RopeCase& c : second.cases) EXPECT_EQ(c.rope.rotary_dim, 64);
}

TEST(HfCases, RotatedShareWithoutAScaling) {  // C019
  EXPECT_EQ(only_case(read_file("glm-4.5-air")).rope.rotary_dim, 64);
}

TEST(HfCases, SharesAreTruncated) {  // C022
  const LoadedConfig mimo = read_file("mimo-v2-flash");
  EXPECT_EQ(mimo.cases.at(0).rope.rotary_dim, 64);
  EXPECT_NOTE(mimo, true, "/partial_rotary_factor",
              "0.334 x 192 = 64.128, not an integer: truncated");
  expect_error(changed("mimo-v2-flash", {{"partial_rotary_factor", 0.33}}),
               {"/partial_rotary_factor", "63.36, truncated to rotary_dim 63", "must be even"});
  const LoadedConfig odd =
      read(changed("mimo-v2-flash",
                   {{"partial_rotary_factor", 0.57}, {"head_dim", 100}, {"swa_head_dim", 100}}));
  EXPECT_EQ(odd.cases.at(0).rope.rotary_dim, 56);
  EXPECT_NOTE(odd, true, "/partial_rotary_factor", "truncated");
}

TEST(HfCases, HeadSizeIsNotOfTheFusedWidth) {  // C040
  const RopeCase falcon = only_case(read(
      R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_kv_heads": 71,
          "multi_query": true, "new_decoder_architecture": false})"));
  EXPECT_EQ(falcon.head_dim, 64);
  EXPECT_EQ(falcon.num_kv_heads, 1);
  EXPECT_EQ((falcon.num_heads + 2 * falcon.num_kv_heads) * falcon.head_dim, 4672);
}

TEST(HfCases, FactorsOfLongRope) {  // C099
  const auto with = [](const Json& more) {
    Json scaling = Json::parse(file_text("phi-4-mini")).at("rope_scaling");
    for (const auto& [key, value] : more.items()) scaling[key] = value;
    return changed("phi-4-mini", {{"rope_scaling", scaling}});
  };
  const Overrides longer = set({"tokens=4097"});
  EXPECT_NEAR(attention_factor(only_case(read(with({}), longer))), 1.1902380714238083, 1e-15);
  EXPECT_EQ(attention_factor(only_case(read(with({{"attention_factor", 1.0}}), longer))), 1.0);
  const LoadedConfig inert = read(with({{"long_mscale", 1.3}}), longer);
  EXPECT_NEAR(attention_factor(only_case(inert)), 1.1902380714238083, 1e-15);
  EXPECT_NOTE(inert, true, "/rope_scaling/long_mscale", "inert");
  const LoadedConfig both = read(with({{"long_mscale", 1.3}, {"attention_factor", 1.0}}), longer);
  EXPECT_EQ(attention_factor(only_case(both)), 1.0);
  // PhiMoE's own code reads it.
  Json moe = Json::parse(with({{"long_mscale", 1.3}}));
  moe["model_type"] = "phimoe";
  EXPECT_EQ(attention_factor(only_case(read(moe.dump(), longer))), 1.3);
}

TEST(HfCases, TypeUnderEitherName) {  // C158
  const auto scaled = [](const std::string& object) {
    return read(llama(R"("max_position_embeddings": 4096, "rope_scaling": )" + object));
  };
  const Scaling type = only_case(scaled(R"({"type": "linear", "factor": 8.0})")).rope.scaling;
  EXPECT_EQ(type.type, "linear");
  EXPECT_EQ(only_case(scaled(R"({"rope_type": "linear", "factor": 8.0})")).rope.scaling, type);
  const LoadedConfig both = scaled(R"({"type": "linear", "rope_type": "linear", "factor": 8.0})");
  EXPECT_EQ(only_case(both).rope.scaling, type);
  EXPECT_NOTE(both, true, "/rope_scaling/rope_type", "both type and rope_type");
  expect_error(llama(R"("rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 8})"),
               {"t.json:1:", "/rope_scaling/rope_type: rope_type is \"yarn\"",
                "type is \"linear\" at /rope_scaling/type"});
  // Two names of one method are no conflict.
  EXPECT_NOTE(
      read(changed("phi-4-mini", {{"rope_scaling",
                                   [] {
                                     Json s =
                                         Json::parse(file_text("phi-4-mini")).at("rope_scaling");
                                     s["rope_type"] = "su";
                                     return s;
                                   }()}})),
      true, "/rope_scaling/rope_type", "longrope and su");
  EXPECT_NOTE(read_file("ministral-3-3b"), true, "/text_config/rope_parameters/rope_type",
              "both type and rope_type");
}

TEST(HfCases, AnObjectIsNotAlwaysAScaling) {  // C160
  for (const char* object :
       {"null", "{}", R"({"rope_type": "default"})",
        R"({"rope_theta": 10000, "rope_type": "default"})", R"({"rope_theta": 10000})"}) {
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
      const RopeCase c = only_case(read(llama(std::string("\"") + key + "\": " + object)));
      EXPECT_EQ(c.rope.scaling, Scaling{}) << key << " " << object;
      EXPECT_EQ(c.rope.theta, 10000);
    }
  }
  expect_error(llama(R"("rope_scaling": {"factor": 8})"),
               {"/rope_scaling: factor without a rope_type"});
}

TEST(HfCases, SetsAreKnownByTheirOwnKeys) {  // C161
  const LoadedConfig config = read(llama(R"(
      "layer_types": ["sliding_attention", "sliding_attention"],
      "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000},
        "full_attention": {"rope_type": "linear", "factor": 4, "rope_theta": 1000000}})"));
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_TRUE(config.cases[0].name.starts_with("t/sliding_attention/"));
  EXPECT_EQ(config.cases[0].rope.theta, 1e4);
  EXPECT_TRUE(config.cases[1].name.starts_with("t/full_attention/"));
  EXPECT_EQ(config.cases[1].rope.theta, 1e6);
  EXPECT_EQ(config.cases[1].rope.scaling.type, "linear");
  EXPECT_NOTE(config, true, "/layer_types", "no layer is of type full_attention");
}

TEST(HfCases, ScalarsBesideSetsAreSharedDefaults) {  // C162
  const LoadedConfig config = read_file("laguna-xs.2-structure");
  ASSERT_EQ(config.cases.size(), 2u);
  EXPECT_EQ(param(config.cases[0], "original_max_position_embeddings"), 4096);
  EXPECT_EQ(config.cases[1].rope.scaling, Scaling{});
  EXPECT_NOTE(config, false, "/rope_parameters/original_max_position_embeddings",
              "a default for all");
  EXPECT_NOTE(config, false, "/layer_types", "full_attention: 1 of 4 layers");
}

TEST(HfCases, HeadDimAsGivenElseTheQuotient) {  // C164
  struct Row {
    const char* file;
    int64_t given, quotient;
  };
  for (const Row& row : {Row{"ernie-4.5-0.3b", 128, 64}, Row{"gemma-3-1b-it", 256, 288},
                         Row{"qwen3-30b-a3b", 128, 64}, Row{"qwen3-next-80b-a3b", 256, 128}}) {
    SCOPED_TRACE(row.file);
    EXPECT_EQ(read_file(row.file).cases.at(0).head_dim, row.given);
    EXPECT_EQ(read(changed(row.file, {{"head_dim", nullptr}})).cases.at(0).head_dim, row.quotient);
  }
  // A class that has a default of its own keeps it where the key is absent; it is said.
  const LoadedConfig ernie = read(changed("ernie-4.5-0.3b", {}, {"head_dim"}));
  EXPECT_EQ(only_case(ernie).head_dim, 128);
  EXPECT_NOTE(ernie, false, "", "head_dim 128: not in the file, class default of ernie4_5");
  EXPECT_EQ(only_case(read(changed("qwen3-30b-a3b", {}, {"head_dim"}))).head_dim, 64);
  EXPECT_NOTE(read(llama("")), false, "/hidden_size", "head_dim 64 = hidden_size 512 / 8 heads");
  expect_error(R"({"model_type": "llama", "hidden_size": 100, "num_attention_heads": 3})",
               {"/hidden_size: hidden_size 100 is no multiple of the 3 heads"});
  expect_error(R"({"model_type": "llama", "hidden_size": 75, "num_attention_heads": 3})",
               {"head_dim 25; allowed: an even number"});
}

TEST(HfCases, KeyHeadsUnderEveryName) {  // C165
  for (const char* file : {"phi-2", "pythia-2.8b", "baichuan2-7b"}) {
    const LoadedConfig config = read_file(file);
    EXPECT_EQ(only_case(config).num_kv_heads, 32) << file;
    EXPECT_NOTE(config, false, "", "num_kv_heads 32: null or not in the file");
  }
  EXPECT_EQ(only_case(read(R"({"model_type": "falcon", "hidden_size": 512,
                               "num_attention_heads": 8, "multi_query": true,
                               "new_decoder_architecture": false})"))
                .num_kv_heads,
            1);
  EXPECT_EQ(only_case(read_file("falcon-40b")).num_kv_heads, 8);
  EXPECT_EQ(only_case(read_file("glm-4-9b-chat-remote")).num_kv_heads, 2);
  EXPECT_EQ(only_case(read(changed("glm-4-9b-chat-remote", {{"multi_query_attention", false}})))
                .num_kv_heads,
            32);
  EXPECT_EQ(only_case(read(R"({"model_type": "RefinedWeb", "hidden_size": 8192, "n_head": 128,
                               "n_head_kv": 8})"))
                .num_kv_heads,
            8);
  EXPECT_EQ(only_case(read(R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48,
                               "max_seq_len": 32768,
                               "attn_config": {"kv_n_heads": 8, "rope_theta": 500000}})"))
                .num_kv_heads,
            8);
}

TEST(HfCases, ByteOrderMark) {  // C167
  EXPECT_EQ(only_case(read("\xef\xbb\xbf" + file_text("llama-2-7b"))).head_dim, 128);
}

TEST(HfCases, SharesOfTheClass) {  // C169
  struct Row {
    std::string text;
    int64_t rotary_dim, head_dim;
  };
  for (const Row& row :
       {Row{file_text("persimmon-8b"), 32, 64}, Row{file_text("glm-4-9b-chat-hf"), 64, 128},
        Row{R"({"model_type": "stablelm", "hidden_size": 2048, "num_attention_heads": 32})", 16,
            64},
        Row{R"({"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32})", 40, 80},
        Row{R"({"model_type": "nemotron", "hidden_size": 2048, "num_attention_heads": 16})", 64,
            128}}) {
    const LoadedConfig config = read(row.text);
    EXPECT_EQ(only_case(config).rope.rotary_dim, row.rotary_dim);
    EXPECT_EQ(only_case(config).head_dim, row.head_dim);
    EXPECT_NOTE(config, false, "", "not in the file, class default of");
  }
  const LoadedConfig unknown =
      read(R"({"model_type": "neverheard", "hidden_size": 2048, "num_attention_heads": 16})",
           set({"tokens=1", "rope.pairing=neox"}));
  EXPECT_EQ(only_case(unknown).rope.rotary_dim, 128);
  EXPECT_NOTE(unknown, false, "", "class default is not known; assumed");
}

TEST(HfCases, NestedTextModelsTakeClassDefaults) {  // C170
  const LoadedConfig config = read_file("gemma-3-4b-it");
  EXPECT_EQ(config.cases.at(0).num_heads, 8);
  EXPECT_EQ(config.cases.at(0).num_kv_heads, 4);
  EXPECT_EQ(config.cases.at(0).head_dim, 256);
  EXPECT_EQ(config.cases.at(0).rope.theta, 1e6);
  for (const char* text : {"num_heads 8", "num_kv_heads 4", "head_dim 256", "theta 1000000"}) {
    EXPECT_NOTE(config, false, "",
                std::string(text) + ": not in the file, class default of gemma3");
  }
  EXPECT_NOTE(config, false, "/text_config", "read from here");
}

TEST(HfCases, FlagsOutsideOfTheScaling) {  // C172
  const LoadedConfig glm = read_file("glm-4-9b-chat-remote");
  EXPECT_EQ(only_case(glm).rope.theta, 5e6);
  EXPECT_NOTE(glm, false, "/rope_ratio", "theta 5000000 = 10000 x rope_ratio 500");
  EXPECT_NOTE(glm, false, "/seq_length", "max_position 131072");
  const LoadedConfig qwen = read_file("qwen-1_8b");
  EXPECT_EQ(only_case(qwen).rope.theta, 1e4);
  EXPECT_NOTE(qwen, true, "/use_dynamic_ntk", "ignored");
  EXPECT_NOTE(qwen, true, "/use_logn_attn", "ignored");
  EXPECT_NOTE(qwen, false, "/rotary_emb_base", "theta 10000");
  EXPECT_NOTE(read(llama(R"("rope_scaling": {"type": "linear", "factor": 2, "gamma": 3, "x": 1})")),
              true, "/rope_scaling", "ignored: gamma, x");
}

TEST(HfCases, WhatYarnLeavesOut) {  // C174
  const auto yarn = [](const std::string& object) {
    return llama(R"("max_position_embeddings": 32768, "rope_scaling": )" + object);
  };
  for (const char* object : {R"({"rope_type": "yarn", "factor": 4.0})",
                             R"({"rope_type": "yarn", "factor": 4.0, "attention_factor": null})"}) {
    const LoadedConfig config = read(yarn(object));
    EXPECT_NEAR(attention_factor(only_case(config)), 1.1386294361119891, 1e-15);
    EXPECT_NOTE(config, false, "",
                "original_max_position_embeddings is not in the file: "
                "max_position_embeddings 32768");
    EXPECT_NOTE(config, false, "", "beta_fast 32, beta_slow 1");
  }
  const LoadedConfig null_factor = read(
      yarn(R"({"rope_type": "yarn", "factor": null, "original_max_position_embeddings": 8192})"));
  EXPECT_EQ(param(only_case(null_factor), "factor"), 4);
  EXPECT_NEAR(attention_factor(only_case(null_factor)), 1.1386294361119891, 1e-15);
  EXPECT_NOTE(null_factor, false, "/rope_scaling/factor", "factor is null: 4 =");
  expect_error(yarn(R"({"rope_type": "yarn"})"),
               {"/rope_scaling/rope_type: scaling yarn needs \"factor\""});
}

}  // namespace
}  // namespace rope_bench::testing
