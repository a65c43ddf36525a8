// Facts of every file in tests/data/hf, worked out from the models' papers, cards and codes.
#include <filesystem>
#include <set>

#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

constexpr Pairing kNeox = Pairing::kNeox;
constexpr Pairing kGptj = Pairing::kGptj;
using Params = std::map<std::string, double>;

struct Fact {
  const char* file;
  const char* layers;  // of the parameter set; empty: the only one
  int64_t heads, kv_heads, head_dim, rotary_dim;
  Pairing pairing;
  double theta;
  int64_t max_position;
  const char* scaling = "none";
  Params params = {};
  double attention_factor = 1;
  const char* qk_norm = "none";
};

const Params kLlama31 = {{"factor", 8},
                         {"low_freq_factor", 1},
                         {"high_freq_factor", 4},
                         {"original_max_position_embeddings", 8192}};
const Params kLlama32 = {{"factor", 32},
                         {"low_freq_factor", 1},
                         {"high_freq_factor", 4},
                         {"original_max_position_embeddings", 8192}};
const Params kDeepseek = {{"factor", 40},        {"beta_fast", 32},
                          {"beta_slow", 1},      {"mscale", 1},
                          {"mscale_all_dim", 1}, {"original_max_position_embeddings", 4096}};
const Params kKimi = {{"factor", 32},        {"beta_fast", 1},
                      {"beta_slow", 1},      {"mscale", 1},
                      {"mscale_all_dim", 1}, {"original_max_position_embeddings", 4096}};
const Params kGptOss = {{"factor", 32},
                        {"beta_fast", 32},
                        {"beta_slow", 1},
                        {"original_max_position_embeddings", 4096}};
const Params kMinistral = {{"factor", 16},        {"beta_fast", 32},
                           {"beta_slow", 1},      {"mscale", 1},
                           {"mscale_all_dim", 1}, {"original_max_position_embeddings", 16384}};
const Params kOlmo3 = {{"factor", 8},
                       {"beta_fast", 32},
                       {"beta_slow", 1},
                       {"attention_factor", 1.2079441541679836},
                       {"original_max_position_embeddings", 8192}};
const Params kLaguna = {
    {"factor", 64}, {"attention_factor", 1}, {"original_max_position_embeddings", 4096}};
const Params kPhi = {{"original_max_position_embeddings", 4096}};

// 0.1 ln 32 + 1, and sqrt(1 + ln 32 / ln 4096).
constexpr double kYarn32 = 1.3465735902799727, kLong32 = 1.1902380714238083;
constexpr const char* kHead = "per head RMS";
constexpr const char* kHeadPlusOne = "per head RMS (1 + w)";
constexpr const char* kRow = "full row RMS";
constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";

// clang-format off
const Fact kFacts[] = {
    {"aya-23-8b", "", 32, 8, 128, 128, kGptj, 1e4, 8192},
    {"baichuan2-7b", "", 32, 32, 128, 128, kNeox, 1e4, 4096},
    {"command-r-plus", "", 96, 8, 128, 128, kGptj, 7.5e7, 131072, "none", {}, 1, "per head LayerNorm"},
    {"deepseek-v3", "", 128, 1, 64, 64, kGptj, 1e4, 163840, "yarn", kDeepseek, 1, "of latents"},
    {"ernie-4.5-0.3b", "", 16, 2, 128, 128, kGptj, 5e5, 131072},
    {"falcon-40b", "", 128, 8, 64, 64, kNeox, 1e4, 2048},
    {"gemma-2-9b", "", 16, 8, 256, 256, kNeox, 1e4, 8192},
    {"gemma-3-1b-it", kFull, 4, 1, 256, 256, kNeox, 1e6, 32768, "none", {}, 1, kHeadPlusOne},
    {"gemma-3-1b-it", kSliding, 4, 1, 256, 256, kNeox, 1e4, 32768, "none", {}, 1, kHeadPlusOne},
    {"gemma-3-27b-it", kFull, 32, 16, 128, 128, kNeox, 1e6, 131072, "linear", {{"factor", 8}}, 1, kHeadPlusOne},
    {"gemma-3-27b-it", kSliding, 32, 16, 128, 128, kNeox, 1e4, 131072, "none", {}, 1, kHeadPlusOne},
    {"gemma-3-4b-it", kFull, 8, 4, 256, 256, kNeox, 1e6, 131072, "linear", {{"factor", 8}}, 1, kHeadPlusOne},
    {"gemma-3-4b-it", kSliding, 8, 4, 256, 256, kNeox, 1e4, 131072, "none", {}, 1, kHeadPlusOne},
    {"gemma-4-class-defaults", kFull, 8, 1, 512, 512, kNeox, 1e6, 131072, "proportional", {}, 1, kHead},
    {"gemma-4-class-defaults", kSliding, 8, 1, 256, 256, kNeox, 1e4, 131072, "none", {}, 1, kHead},
    {"glm-4-9b-chat-hf", "", 32, 2, 128, 64, kGptj, 1e4, 131072},
    {"glm-4-9b-chat-remote", "", 32, 2, 128, 64, kGptj, 5e6, 131072},
    {"glm-4.5-air", "", 96, 8, 128, 64, kNeox, 1e6, 131072},
    {"gpt-j-6b", "", 16, 16, 256, 64, kGptj, 1e4, 2048},
    {"gpt-oss-20b", "", 64, 8, 64, 64, kNeox, 150000, 131072, "yarn", kGptOss, kYarn32},
    {"granite-4-3b-dense", "", 40, 8, 64, 64, kNeox, 1e7, 131072},
    {"internlm3-8b", "", 32, 2, 128, 128, kNeox, 5e7, 32768, "dynamic_ntk", {{"factor", 6}}},
    {"kimi-k2-instruct", "", 64, 1, 64, 64, kGptj, 5e4, 131072, "yarn", kKimi, 1, "of latents"},
    {"laguna-xs.2-structure", kFull, 48, 8, 128, 64, kNeox, 5e5, 262144, "yarn", kLaguna},
    {"laguna-xs.2-structure", kSliding, 48, 8, 128, 128, kNeox, 1e4, 262144},
    {"ling-mini-2.0", "", 16, 4, 128, 64, kNeox, 6e5, 32768, "none", {}, 1, kHead},
    {"llama-2-7b", "", 32, 32, 128, 128, kNeox, 1e4, 4096},
    {"llama-2-7b-32k-linear", "", 32, 32, 128, 128, kNeox, 1e4, 32768, "linear", {{"factor", 8}}},
    {"llama-3.1-8b", "", 32, 8, 128, 128, kNeox, 5e5, 131072, "llama3", kLlama31},
    {"llama-3.2-1b", "", 32, 8, 64, 64, kNeox, 5e5, 131072, "llama3", kLlama32},
    {"llama-3.3-70b", "", 64, 8, 128, 128, kNeox, 5e5, 131072, "llama3", kLlama31},
    {"mimo-v2-flash", kFull, 64, 4, 192, 64, kNeox, 5e6, 262144},
    {"mimo-v2-flash", kSliding, 64, 8, 192, 64, kNeox, 1e4, 262144},
    {"minicpm-2b-128k", "", 36, 36, 64, 64, kNeox, 1e6, 65536, "dynamic_ntk", {{"factor", 4}}},
    {"ministral-3-3b", "", 32, 8, 128, 128, kNeox, 1e6, 262144, "yarn", kMinistral, 1},
    {"mistral-7b-v0.1", "", 32, 8, 128, 128, kNeox, 1e4, 32768},
    {"mistral-7b-v0.3", "", 32, 8, 128, 128, kNeox, 1e6, 32768},
    {"olmo-2-7b", "", 32, 32, 128, 128, kNeox, 5e5, 4096, "none", {}, 1, kRow},
    {"olmo-3-32b-think", kFull, 40, 8, 128, 128, kNeox, 5e5, 65536, "yarn", kOlmo3, 1.2079441541679836, kRow},
    {"olmo-3-32b-think", kSliding, 40, 8, 128, 128, kNeox, 5e5, 65536, "none", {}, 1, kRow},
    {"persimmon-8b", "", 64, 64, 64, 32, kNeox, 25000, 16384, "none", {}, 1, "per head LayerNorm"},
    {"phi-2", "", 32, 32, 80, 32, kNeox, 1e4, 2048},
    {"phi-2-legacy", "", 32, 32, 80, 32, kNeox, 1e4, 2048},
    {"phi-3.5-mini", "", 32, 32, 96, 96, kNeox, 1e4, 131072, "longrope", kPhi, kLong32},
    {"phi-4-14b", "", 40, 10, 128, 128, kNeox, 250000, 16384},
    {"phi-4-mini", "", 24, 8, 128, 96, kNeox, 1e4, 131072, "longrope", kPhi, kLong32},
    {"pythia-2.8b", "", 32, 32, 80, 20, kNeox, 1e4, 2048},
    {"qwen-1_8b", "", 16, 16, 128, 128, kNeox, 1e4, 8192},
    {"qwen2-vl-7b", "", 28, 4, 128, 128, kNeox, 1e6, 32768},
    {"qwen2.5-7b", "", 28, 4, 128, 128, kNeox, 1e6, 131072},
    {"qwen3-30b-a3b", "", 32, 4, 128, 128, kNeox, 1e6, 40960, "none", {}, 1, kHead},
    {"qwen3-8b", "", 32, 8, 128, 128, kNeox, 1e6, 40960, "none", {}, 1, kHead},
    {"qwen3-next-80b-a3b", "", 16, 2, 256, 64, kNeox, 1e7, 262144, "none", {}, 1, kHeadPlusOne},
    {"stablelm-2-1_6b", "", 32, 32, 64, 16, kNeox, 1e4, 4096},
    {"stablelm-3b-4e1t", "", 32, 32, 80, 20, kNeox, 1e4, 4096},
    {"yi-34b-200k", "", 56, 8, 128, 128, kNeox, 1e7, 200000},
};
// clang-format on

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TEST_DATA_DIR) + "/hf")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  return names;
}

void check(const Fact& fact, const LoadedConfig& config, size_t index) {
  SCOPED_TRACE(std::string(fact.file) + " " + fact.layers);
  ASSERT_LT(index, config.cases.size());
  const RopeCase& c = config.cases[index];
  const std::string prefix = *fact.layers ? std::string("t/") + fact.layers : "t";
  EXPECT_EQ(config.models.at(index).case_prefix, prefix);
  // The norms that an op does together with the rotation are RMS norms.
  const bool fused = std::string(fact.qk_norm).find("RMS") != std::string::npos;
  EXPECT_TRUE(c.name.starts_with(prefix + (fused ? "/norm_split_rope/" : "/rope/"))) << c.name;
  EXPECT_EQ(config.models.at(index).qk_norm, fact.qk_norm);
  EXPECT_EQ(c.num_heads, fact.heads);
  EXPECT_EQ(c.num_kv_heads, fact.kv_heads);
  EXPECT_EQ(c.head_dim, fact.head_dim);
  EXPECT_EQ(c.rope.rotary_dim, fact.rotary_dim);
  EXPECT_EQ(c.rope.pairing, fact.pairing);
  EXPECT_EQ(c.rope.theta, fact.theta);
  EXPECT_EQ(c.max_position, fact.max_position);
  EXPECT_EQ(c.rope.scaling.type, fact.scaling);
  Params numbers;
  for (const auto& [name, value] : c.rope.scaling.params) {
    if (const double* number = std::get_if<double>(&value)) numbers[name] = *number;
  }
  EXPECT_EQ(numbers, fact.params);
  EXPECT_NEAR(attention_factor(c), fact.attention_factor, 1e-15);
  EXPECT_EQ(c.skip_reason, "");
}

TEST(HfModels, EveryFileGivesTheFactsOfItsModel) {
  for (const std::string& file : files()) {
    const LoadedConfig config = read_file(file);
    size_t sets = 0;
    for (const Fact& fact : kFacts) {
      if (file == fact.file) check(fact, config, sets++);
    }
    EXPECT_GT(sets, 0u) << file << " has no facts here";
    EXPECT_EQ(config.cases.size(), sets) << file;
  }
}

TEST(HfModels, EveryFactHasItsFile) {
  const std::vector<std::string> names = files();
  const std::set<std::string> there(names.begin(), names.end());
  EXPECT_GE(there.size(), 49u);
  for (const Fact& fact : kFacts) EXPECT_TRUE(there.contains(fact.file)) << fact.file;
}

TEST(HfModels, WhatIsNoNumberOfATable) {
  EXPECT_EQ(std::get<bool>(only_case(read_file("gpt-oss-20b")).rope.scaling.params.at("truncate")),
            false);
  const RopeCase full = read_file("gemma-4-class-defaults").cases.at(0);
  EXPECT_EQ(full.rope.proportion, 0.25);
  const RopeCase vl = only_case(read_file("qwen2-vl-7b"));
  EXPECT_EQ(vl.rope.axes.kind, "mrope");
  EXPECT_EQ(vl.rope.axes.section, (std::vector<int64_t>{16, 24, 24}));
  const RopeCase ministral = only_case(read_file("ministral-3-3b"));
  EXPECT_EQ(ministral.rope.query_scale, (QueryScale{0.1, 16384}));
  const RopeCase phi = only_case(read_file("phi-4-mini"));
  const auto list = std::get<std::vector<double>>(phi.rope.scaling.params.at("long_factor"));
  ASSERT_EQ(list.size(), 48u);
  EXPECT_EQ(list[47], 47.77);
}

TEST(HfModels, DtypesAndTokens) {
  const Overrides none;
  const LoadedConfig llama2 = read_file("llama-2-7b", none);
  ASSERT_EQ(llama2.cases.size(), 4u);
  EXPECT_EQ(llama2.cases[3].tokens, 4096);
  EXPECT_EQ(llama2.cases[0].dtype, Dtype::kF16);
  EXPECT_EQ(read_file("olmo-2-7b").cases[0].dtype, Dtype::kF32);
  EXPECT_EQ(read_file("qwen3-8b").cases[0].dtype, Dtype::kBF16);
  const LoadedConfig gptj = read_file("gpt-j-6b");
  EXPECT_EQ(gptj.cases[0].dtype, Dtype::kBF16);
  EXPECT_NOTE(gptj, false, "", "no torch_dtype");
  // That of a nested model stands outside.
  EXPECT_EQ(read(R"({"torch_dtype": "float16", "model_type": "gemma3", "text_config": {}})")
                .cases[0]
                .dtype,
            Dtype::kF16);
}

TEST(HfModels, LatentAttentionKeepsItsPlaceInTheHead) {
  for (const char* file : {"deepseek-v3", "kimi-k2-instruct"}) {
    const LoadedConfig config = read_file(file);
    const RopeCase c = only_case(config);
    EXPECT_EQ(c.layout.q.head_stride, 192);
    EXPECT_EQ(c.layout.q.rotary_offset, 128);
    EXPECT_EQ(c.layout.k.rotary_offset, 0);
    EXPECT_NOTE(config, false, "/qk_rope_head_dim", "64 of the 192 dims");
  }
}

}  // namespace
}  // namespace rope_bench::testing
