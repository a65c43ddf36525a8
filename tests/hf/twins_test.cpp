// Shipped configs and the models' own files are two ways of saying the same rotation. Shipped ones
// are op rope throughout, so that they compare with each other; --hf takes the op that a family's
// norm asks for.
#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

struct Twins {
  const char* shipped;
  const char* file;
};
const Twins kTwins[] = {
    {"llama7b", "llama-2-7b"},
    {"llama2-7b-32k", "llama-2-7b-32k-linear"},
    {"llama3.1-8b", "llama-3.1-8b"},
    {"mistral-7b", "mistral-7b-v0.3"},
    {"qwen2.5-7b", "qwen2.5-7b"},
    {"qwen3-8b", "qwen3-8b"},
    {"glm-4-9b", "glm-4-9b-chat-remote"},
    {"glm-4.5-air", "glm-4.5-air"},
    {"gpt-j-6b", "gpt-j-6b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"phi-2", "phi-2"},
    {"phi-2", "phi-2-legacy"},
    {"stablelm-3b", "stablelm-3b-4e1t"},
    {"mimo-v2-flash", "mimo-v2-flash"},
};

TEST(HfTwins, ResolveToTheSameCases) {
  for (const Twins& twins : kTwins) {
    SCOPED_TRACE(twins.file);
    const LoadedConfig own =
        load_config(std::string(CONFIG_DIR) + "/" + twins.shipped + ".json", scaling_catalog(), {});
    const LoadedConfig hf = read_file(twins.file, set({"dtype=bf16", "op=rope"}));
    // Of MiMo the shipped one has the full-attention layers, which come first.
    ASSERT_GE(hf.cases.size(), own.cases.size());
    for (size_t i = 0; i < own.cases.size(); ++i) {
      const RopeCase &a = own.cases[i], &b = hf.cases[i];
      EXPECT_EQ(a.op, b.op);
      EXPECT_EQ(a.variant, b.variant);
      EXPECT_EQ(a.dtype, b.dtype);
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.num_heads, b.num_heads);
      EXPECT_EQ(a.num_kv_heads, b.num_kv_heads);
      EXPECT_EQ(a.head_dim, b.head_dim);
      EXPECT_EQ(a.max_position, b.max_position);
      EXPECT_EQ(a.rope.pairing, b.rope.pairing);
      EXPECT_EQ(a.rope.rotary_dim, b.rope.rotary_dim);
      EXPECT_EQ(a.rope.theta, b.rope.theta);
      EXPECT_EQ(a.rope.scaling, b.rope.scaling);
      EXPECT_EQ(a.rope.axes, b.rope.axes);
      EXPECT_EQ(a.rope.query_scale, b.rope.query_scale);
      EXPECT_EQ(a.layout.in_place, b.layout.in_place);
      EXPECT_EQ(frequencies_of(a), frequencies_of(b));
      EXPECT_EQ(bytes_of(a).total(), bytes_of(b).total());
    }
  }
}

// What --hf makes is a config like any other: reading it again changes nothing.
TEST(HfTwins, TheNativeConfigCanBeReadAgain) {
  for (const char* file : {"llama-3.1-8b", "gemma-3-27b-it", "deepseek-v3", "phi-4-mini"}) {
    const LoadedConfig hf = read_file(file, {});
    const LoadedConfig again = parse_config(hf.resolved_json, "again.json", scaling_catalog(), {});
    ASSERT_EQ(again.cases.size(), hf.cases.size()) << file;
    for (size_t i = 0; i < hf.cases.size(); ++i) {
      EXPECT_EQ(again.cases[i].name, hf.cases[i].name);
      EXPECT_EQ(again.cases[i].rope.scaling, hf.cases[i].rope.scaling);
      EXPECT_EQ(again.cases[i].rope.rotary_dim, hf.cases[i].rope.rotary_dim);
    }
  }
}

}  // namespace
}  // namespace rope_bench::testing
