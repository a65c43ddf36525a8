// Large, deep and odd files; time.
#include <sys/resource.h>

#include <chrono>

#include "tests/hf/helpers.h"

namespace rope_bench::testing {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HfLimits, DeepNestingIsRefusedAtOnce) {
  for (const char* open : {"[", "{\"text_config\":"}) {
    std::string text = R"({"model_type": "llama", "x": )";
    for (int i = 0; i < 10000; ++i) text += open;
    const auto start = std::chrono::steady_clock::now();
    expect_error(text, {"t.json:1:", "nested deeper than 64 levels"});
    EXPECT_LT(seconds_since(start), 1.0);
  }
}

TEST(HfLimits, SizesThatNoTableCouldHold) {
  expect_error(llama(R"("head_dim": 2147483646)"), {"/head_dim: 2147483646", "65536"});
  expect_error(R"({"model_type": "llama", "hidden_size": 2147483646, "num_attention_heads": 1})",
               {"/hidden_size", "allowed: an even number up to 65536"});
  expect_error(R"({"model_type": "llama", "num_attention_heads": 1e300})",
               {"/num_attention_heads"});
  std::string list = "[1";
  for (int i = 2; i < 100; ++i) list += ", " + std::to_string(i);
  expect_error(llama(R"("rope_theta": )" + list + "]"),
               {"/rope_theta: more than 64 parameter sets"});
}

// Labels of classifiers are objects of many keys; what nobody reads costs time in proportion, and
// not a line each.
TEST(HfLimits, ObjectsOfManyKeys) {
  std::string labels, odd;
  for (int i = 0; i < 100'000; ++i) {
    labels += (i ? ", \"" : "\"") + std::to_string(i) + "\": \"LABEL\"";
    odd += ", \"rope_" + std::to_string(i) + "\": 1";
  }
  [[maybe_unused]] const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read(llama("\"id2label\": {" + labels + "}")).cases.size(), 1u);
  const LoadedConfig config = read(llama(odd.substr(2)));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(seconds_since(start), 2.0);
#endif
  EXPECT_NOTE(config, true, "", "ignored: 99900 more such keys");
  EXPECT_LT(config.notes.size(), 130u);
  expect_error(llama("\"id2label\": {" + labels + ", \"7\": 1}"),
               {"/id2label/99999: key \"7\" appears twice, first at t.json:1:"});
  expect_error(llama("\"a\": {}" + odd), {"no object \"b\" here; objects: /a"}, set({"tokens=1"}),
               "/b");
}

TEST(HfLimits, NamesOfLayersAreOneLine) {
  const LoadedConfig config = read(
      "{\"model_type\": \"llama\", \"rope_parameters\": {\"a\\nb/c d\": {\"rope_theta\": 5}}}");
  EXPECT_EQ(config.cases.at(0).name.substr(0, 2), "t/");
  EXPECT_EQ(config.cases.at(0).name.find_first_of("\n "), std::string::npos);
  for (const ConfigNote& note : config.notes) {
    EXPECT_EQ((note.pointer + note.text).find('\n'), std::string::npos);
  }
  expect_error(
      "{\"model_type\": \"llama\", \"rope_parameters\": {\"a\\nb\": {\"rope_theta\": -5}}}",
      {"/rope_parameters/a\\u000ab/rope_theta: -5 is not allowed"});
}

TEST(HfLimits, AFileIsReadInTwentyMilliseconds) {
#ifdef __SANITIZE_ADDRESS__
  constexpr double kMost = 0.4;
#else
  constexpr double kMost = 0.02;
#endif
  for (const char* file : {"phi-4-mini", "gemma-3-27b-it", "deepseek-v3", "llama-3.1-8b"}) {
    const std::string path = std::string(TEST_DATA_DIR) + "/hf/" + file + ".json";
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const LoadedConfig config = load_hf({path}, scaling_catalog(), {}, ScalingCheck());
      best = std::min(best, seconds_since(start));
      EXPECT_GE(config.cases.size(), 4u);
    }
    EXPECT_LT(best, kMost) << file;
  }
}

TEST(HfLimits, NamesComeFromFileOrFolder) {
  const std::string folder = ::testing::TempDir() + "/hf_limits/My-Model";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.json") << file_text("llama-2-7b");
  std::ofstream(folder + "/other.json") << file_text("llama-2-7b");
  const auto name = [](const std::string& place) {
    return load_hf({place}, scaling_catalog(), {}, ScalingCheck()).name;
  };
  EXPECT_EQ(name(folder), "My-Model");
  EXPECT_EQ(name(folder + "/"), "My-Model");
  EXPECT_EQ(name(folder + "/config.json"), "My-Model");
  EXPECT_EQ(name(folder + "/other.json"), "other");
  EXPECT_EQ(find_hf(folder + "#/vision_config").part, "/vision_config");
  EXPECT_EQ(find_hf(folder + "#vision_config").part, "/vision_config");
  EXPECT_EQ(find_hf(folder + "#/vision_config").path, folder + "/config.json");
  std::filesystem::remove_all(::testing::TempDir() + "/hf_limits");
}

}  // namespace
}  // namespace rope_bench::testing
