// --hf on the command line: run, describe and table of models' own files.
#include <algorithm>
#include <filesystem>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

std::string model(const std::string& name) {
  return std::string(TEST_DATA_DIR) + "/hf/" + name + ".json";
}

Json json_of(const std::vector<std::string>& args) {
  const ProcessResult result = rope_bench(args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

TEST(Hf, DescribeCarriesWhatWasReadAndAssumed) {
  const Json document = json_of({"describe", "--hf", model("gemma-3-4b-it"), "-o", "json"});
  EXPECT_EQ(document.at("cases").size(), 8u);  // two parameter sets, four sizes
  bool read = false, assumed = false;
  for (const Json& note : document.at("notes")) {
    for (const char* key : {"level", "file", "pointer", "text"}) ASSERT_TRUE(note.contains(key));
    EXPECT_TRUE(note.at("level") == "info" || note.at("level") == "warning");
    read |= note.at("pointer") == "/text_config/rope_scaling" &&
            note.at("text") == "scaling linear: factor 8" &&
            note.at("file") == model("gemma-3-4b-it");
    assumed |= note.at("pointer").is_null() &&
               note.at("text") == "head_dim 256: not in the file, class default of gemma3_text";
  }
  EXPECT_TRUE(read && assumed) << document.at("notes").dump(1);
  ASSERT_EQ(document.at("models").size(), 2u);
  EXPECT_EQ(document.at("models")[0].at("scaling"), (Json{{"type", "linear"}, {"factor", 8}}));
  const std::string text = rope_bench({"describe", "--hf", model("mimo-v2-flash")}).out;
  EXPECT_NE(text.find("\nwarning: " + model("mimo-v2-flash") + ": /partial_rotary_factor: "),
            std::string::npos);
  EXPECT_NE(text.find(": /head_dim: head_dim 192\n"), std::string::npos);
}

TEST(Hf, SeveralModelsAreATable) {
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{"--hf", model("llama-3.1-8b"), "--hf", model("gemma-3-1b-it")},
        {"--hf", model("llama-3.1-8b"), model("gemma-3-1b-it")}}) {
    std::vector<std::string> args = {"describe"};
    args.insert(args.end(), files.begin(), files.end());
    const std::string text = rope_bench(args).out;
    EXPECT_TRUE(text.starts_with("model ")) << text;
    for (const char* row : {"\nllama-3.1-8b ", "\ngemma-3-1b-it:full_attention ",
                            "\ngemma-3-1b-it:sliding_attention ", " llama3 x8 "}) {
      EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
    }
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
    args.insert(args.end(), {"-o", "json"});
    EXPECT_EQ(json_of(args).at("models").size(), 3u);
  }
}

TEST(Hf, RunSaysWarningsAndWithVerboseTheRest) {
  const std::vector<std::string> args = {
      "run", "--hf", model("qwen-1_8b"), "--device", "cpu", "--no-measure", "--set", "tokens=3"};
  const ProcessResult plain = rope_bench(args);
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_NE(plain.out.find("qwen-1_8b/rope/fast/bf16/T3"), std::string::npos);
  EXPECT_NE(plain.err.find("/use_dynamic_ntk: ignored"), std::string::npos);
  EXPECT_EQ(plain.err.find("head_dim 128"), std::string::npos);
  std::vector<std::string> verbose = args;
  verbose.push_back("-v");
  EXPECT_NE(rope_bench(verbose).err.find(": /kv_channels: head_dim 128\n"), std::string::npos);
  std::vector<std::string> json = args;
  json.insert(json.end(), {"-o", "json"});
  const Json document = Json::parse(rope_bench(json).out);
  EXPECT_EQ(document.at("results")[0].at("status"), "passed");
  EXPECT_EQ(document.at("config").at("model").at("head_dim"), 128);
}

// Latent attention, and norms of every kind that the op does: what --hf makes of a model runs.
TEST(Hf, ModelsRunAsTheirOwnOp) {
  struct Row {
    const char* file;
    const char* op;
  };
  for (const Row& row :
       {Row{"deepseek-v3", "rope"}, Row{"qwen3-8b", "norm_split_rope"},
        Row{"olmo-2-7b", "norm_split_rope"}, Row{"gemma-3-1b-it", "norm_split_rope"},
        Row{"qwen3-next-80b-a3b", "norm_split_rope"}, Row{"phi-4-mini", "rope"}}) {
    SCOPED_TRACE(row.file);
    const Json document = json_of(
        {"--hf", model(row.file), "-d", "cpu", "--no-measure", "--set", "tokens=3", "-o", "json"});
    ASSERT_GE(document.at("results").size(), 1u);
    for (const Json& result : document.at("results")) {
      EXPECT_EQ(result.at("status"), "passed") << result.at("reason");
      EXPECT_EQ(result.at("op"), row.op);
    }
  }
}

// A name may be any bytes; what is printed is text.
TEST(Hf, NamesThatAreNotUtf8) {
  ScratchFolder scratch;
  const std::string file = scratch.file("m\xff\xfe.json");
  std::filesystem::copy_file(model("llama-2-7b"), file);
  const Json hf = json_of({"--hf", file, "-n", "-o", "json", "--set", "tokens=1"});
  EXPECT_EQ(hf.at("cases")[0].at("name"), "m__/rope/fast/f16/T1");
  scratch.write("c\xff.json", R"({"model": {"num_heads": 2, "head_dim": 8}, "tokens": 1})");
  const Json own =
      json_of({"-c", scratch.file("c\xff.json"), "-d", "cpu", "--no-measure", "-o", "json"});
  EXPECT_EQ(own.at("results")[0].at("name"), "c_/rope/fast/bf16/T1");
}

TEST(Hf, TableOfOneParameterSet) {
  const Json table = json_of({"table", "--hf", model("phi-2"), "-o", "json"});
  EXPECT_EQ(table.at("rotary_dim"), 32);
  EXPECT_NEAR(table.at("inv_freq").back().get<double>(), 0.000177827941004, 1e-15);
  const ProcessResult several = rope_bench({"table", "--hf", model("gemma-3-1b-it")});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.err.find("choose one with --filter"), std::string::npos);
  const Json local =
      json_of({"table", "--hf", model("gemma-3-1b-it"), "-k", "sliding", "-o", "json"});
  EXPECT_EQ(local.at("theta"), 10000);
}

TEST(Hf, FoldersAxesAndDryRuns) {
  ScratchFolder scratch;
  std::filesystem::create_directories(scratch.file("My-7B"));
  std::filesystem::copy_file(model("llama-2-7b"), scratch.file("My-7B/config.json"));
  const Json document = json_of({"--hf", scratch.file("My-7B"), "-n", "-o", "json", "--axis",
                                 "tokens=1,2", "--axis", "dtype=f16,bf16"});
  ASSERT_EQ(document.at("cases").size(), 4u);
  EXPECT_EQ(document.at("cases")[0].at("name"), "My-7B/rope/fast/f16/T1");
  EXPECT_TRUE(document.at("notes").is_array());
}

TEST(Hf, AnOutputDoesNotReplaceTheModel) {
  ScratchFolder scratch;
  std::filesystem::copy_file(model("llama-2-7b"), scratch.file("config.json"));
  const ProcessResult result =
      rope_bench({"--hf", scratch.path(), "-o", "csv:" + scratch.file("config.json")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(scratch.read("config.json").starts_with("{"));
}

TEST(Hf, HugeAndDeepFilesAreRefusedSoonAndSmall) {
#ifdef __SANITIZE_ADDRESS__
  constexpr size_t kMemory = 0;  // its shadow alone takes more address space
  constexpr double kMost = 5;
#else
  constexpr size_t kMemory = size_t{200} << 20;
  constexpr double kMost = 1;
#endif
  ScratchFolder scratch;
  scratch.write("huge.json",
                "{\"model_type\": \"llama\", \"x\": [" + std::string(100'000'000, '1'));
  std::string deep = "{\"model_type\": \"llama\", \"x\": ";
  for (int i = 0; i < 10000; ++i) deep += "[";
  scratch.write("deep.json", deep);
  ProcessOptions options;
  options.memory_bytes = kMemory;
  for (const char* file : {"huge.json", "deep.json"}) {
    const ProcessResult result = rope_bench({"describe", "--hf", scratch.file(file)}, options);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_LT(result.seconds, kMost);
  }
}

TEST(Hf, RefusalsAreOneLineWithThePlace) {
  ScratchFolder scratch;
  scratch.write("a.json", "{\n  \"model_type\": \"bloom\"\n}");
  scratch.write("b.json", "{\"model_type\": \"lama\"}");
  const ProcessResult bloom = rope_bench({"--hf", scratch.file("a.json")});
  EXPECT_EQ(bloom.exit_code, 2);
  EXPECT_EQ(bloom.err, "rope-bench: " + scratch.file("a.json") +
                           ":2:17: /model_type: this model has no RoPE: bloom has ALiBi biases of "
                           "the attention scores\n");
  EXPECT_EQ(rope_bench({"--hf", scratch.file("b.json")}).exit_code, 2);
  EXPECT_EQ(rope_bench({"describe", "--hf", scratch.file("b.json"), "--set", "rope.pairing=neox",
                        "--set", "model.num_heads=8", "--set", "model.head_dim=64"})
                .exit_code,
            0);
  const ProcessResult config = rope_bench({"--config", scratch.file("b.json")});
  EXPECT_NE(config.err.find("read it with --hf " + scratch.file("b.json")), std::string::npos);
}

}  // namespace
}  // namespace rope_bench
