// list, describe, table, env and schema: what they promise to scripts.
#include <cmath>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

Json json_of(const std::vector<std::string>& args) {
  const ProcessResult result = rope_bench(args);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list) names.push_back(item.at("name"));
  return names;
}

TEST(List, EveryKindAsTextAndJson) {
  for (const std::string kind : {"ops", "variants", "pairings", "scalings", "dtypes", "configs",
                                 "families", "formats", "devices"}) {
    const std::vector<std::string> names = names_of(json_of({"list", kind, "-o", "json"}).at(kind));
    const ProcessResult text = rope_bench({"list", kind});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_FALSE(names.empty()) << kind;
    for (const std::string& name : names) {
      EXPECT_NE(text.out.find("\n" + name), std::string::npos) << kind << " " << name;
    }
  }
}

TEST(List, ScalingsWithParametersAndLetters) {
  const std::string text = rope_bench({"list", "scalings"}).out;
  for (const char* part :
       {"\nlinear        factor (required)\n", "beta_fast (32)", "truncate (true)", "r rotary_dim",
        "L current length", "exactly one of factor, alpha"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const Json list = json_of({"list", "scalings", "-o", "json"});
  for (const Json& method : list.at("scalings")) {
    const bool table_only = method.at("name") == "fope" || method.at("name") == "dual_chunk";
    EXPECT_EQ(method.at("runs"), table_only ? "table only" : "yes") << method;
    for (const Json& param : method.at("params")) EXPECT_TRUE(param.at("required").is_boolean());
  }
}

TEST(List, KnowsTheWordsOfConfigs) {
  EXPECT_EQ(names_of(json_of({"list", "pairings", "-o", "json"}).at("pairings")),
            (std::vector<std::string>{"neox", "gptj"}));
  EXPECT_EQ(names_of(json_of({"list", "dtypes", "-o", "json"}).at("dtypes")),
            (std::vector<std::string>{"f32", "f16", "bf16"}));
  const auto configs = names_of(json_of({"list", "configs", "-o", "json"}).at("configs"));
  EXPECT_EQ(std::count(configs.begin(), configs.end(), "llama7b"), 1);
}

// C151: one token of 32/8 heads, dims 128, bf16: 20480 B of q and k, a table row, a position.
TEST(Describe, CountsBytesByStream) {
  const Json document = json_of(
      {"describe", "-c", "llama3-8b", "--set", "tokens=1", "--board", "NVIDIA H200", "-o", "json"});
  ASSERT_EQ(document.at("cases").size(), 1u);
  const Json& c = document.at("cases")[0];
  EXPECT_EQ(c.at("model").at("num_heads"), 32);
  EXPECT_EQ(c.at("model").at("num_kv_heads"), 8);
  EXPECT_EQ(c.at("rope").at("pairing"), "neox");
  EXPECT_EQ(c.at("rope").at("rotary_dim"), 128);
  EXPECT_EQ(c.at("rope").at("theta"), 500000);
  EXPECT_EQ(c.at("rope").at("scaling").at("type"), "none");
  const Json& bytes = c.at("bytes");
  EXPECT_EQ(bytes.at("read"), 10240);
  EXPECT_EQ(bytes.at("write"), 10240);
  EXPECT_EQ(bytes.at("table"), 512);
  EXPECT_EQ(bytes.at("positions"), 4);
  EXPECT_EQ(bytes.at("total"), 20996);
  EXPECT_DOUBLE_EQ(c.at("speed_of_light_us").get<double>(), 20996 / 4800e3);
  EXPECT_TRUE(document.at("notes").is_array());
}

TEST(Describe, NoGpuNoSpeedOfLight) {
  ProcessOptions no_gpu;
  no_gpu.env = {"CUDA_VISIBLE_DEVICES="};
  const ProcessResult result = rope_bench({"describe", "-c", "llama7b", "-o", "json"}, no_gpu);
  const Json document = Json::parse(result.out);
  EXPECT_TRUE(document.at("cases")[0].at("speed_of_light_us").is_null());
}

TEST(Describe, NothingSelectedIsExitCode5) {
  EXPECT_EQ(rope_bench({"describe", "-c", "llama7b", "-k", "nothing"}).exit_code, 5);
}

TEST(Table, PrintsFrequenciesAndRows) {
  const Json table =
      json_of({"table", "-c", "llama7b", "--positions", "0,1,2147483647", "-o", "json"});
  EXPECT_EQ(table.at("rotary_dim"), 128);
  EXPECT_EQ(table.at("attention_factor"), 1.0);
  ASSERT_EQ(table.at("inv_freq").size(), 64u);
  EXPECT_DOUBLE_EQ(table.at("inv_freq")[1], std::pow(10000.0, -1.0 / 64));
  ASSERT_EQ(table.at("rows").size(), 3u);
  EXPECT_EQ(table.at("rows")[0].at("cos")[5], 1.0);
  EXPECT_EQ(table.at("rows")[0].at("sin")[5], 0.0);
  EXPECT_DOUBLE_EQ(table.at("rows")[1].at("cos")[0], std::cos(1.0));
  EXPECT_DOUBLE_EQ(table.at("rows")[1].at("sin")[0], std::sin(1.0));
  EXPECT_EQ(table.at("rows")[2].at("position"), 2147483647);
  EXPECT_NEAR(table.at("rows")[2].at("cos")[0], std::cos(2147483647.0), 1e-12);
}

// C003: yarn multiplies cos and sin by 0.1 ln(32) + 1.
TEST(Table, RowsHoldTheAttentionFactor) {
  const Json table = json_of({"table", "-c", "llama7b", "--set", "rope.scaling.type=yarn", "--set",
                              "rope.scaling.factor=32", "--set",
                              "rope.scaling.original_max_position_embeddings=4096", "--positions",
                              "0", "-o", "json"});
  EXPECT_DOUBLE_EQ(table.at("attention_factor"), 1.3465735902799727);
  EXPECT_DOUBLE_EQ(table.at("rows")[0].at("cos")[0], 1.3465735902799727);
}

TEST(Table, CountsAreIntegers) {
  const Json table = json_of({"table", "-c", "llama3.1-8b", "--positions", "0", "-o", "json"});
  for (const char* count : {"kept_pairs", "blended_pairs", "scaled_pairs"}) {
    EXPECT_TRUE(table.at("details").at(count).is_number_integer()) << count;
  }
}

TEST(Table, OneParameterSetOfMany) {
  const std::vector<std::string> args = {"table", "-c",  "llama7b", "-a", "rope.theta=1e4,5e5",
                                         "-o",    "json"};
  const ProcessResult several = rope_bench(args);
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.err.find("--filter"), std::string::npos);
  std::vector<std::string> one = args;
  one.insert(one.end(), {"-k", "theta=500000"});
  EXPECT_EQ(json_of(one).at("theta"), 500000);
}

TEST(Table, TextHas17Digits) {
  const ProcessResult result = rope_bench({"table", "-c", "llama7b", "--positions", "1"});
  EXPECT_NE(result.out.find("0.86596432336006535"), std::string::npos) << "inv_freq[1]";
  EXPECT_NE(result.out.find("0.54030230586813977"), std::string::npos) << "cos(1)";
}

TEST(Env, SaysWhatThisMachineIs) {
  const Json env = json_of({"env", "-d", "cpu", "-o", "json"});
  EXPECT_EQ(env.at("tool").at("name"), "rope-bench");
  EXPECT_EQ(env.at("env").at("device"), "cpu");
  EXPECT_GT(env.at("env").at("memory_bytes"), 0);
  EXPECT_FALSE(env.at("devices").empty());
  const ProcessResult text = rope_bench({"env", "-d", "cpu"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("\ntheoretical peak  unknown\n"), std::string::npos) << text.out;
  for (const char* key : {"\ncommit ", "\ncompiler ", "\nCUDA toolkit ", "\nmodel ", "\nthreads "})
    EXPECT_NE(text.out.find(key), std::string::npos) << key << text.out;
}

TEST(Schema, OfConfigsAndResults) {
  for (const std::string kind : {"config", "results"}) {
    const Json schema = json_of({"schema", kind});
    EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
    EXPECT_TRUE(schema.contains("properties"));
  }
}

TEST(Documents, GoToFilesToo) {
  ScratchFolder folder;
  const ProcessResult result =
      rope_bench({"list", "ops", "-o", "json:" + folder.file("ops.json"), "-o", "text"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("split_rope"), std::string::npos);
  EXPECT_EQ(Json::parse(folder.read("ops.json")).at("ops").size(), 6u);
}

}  // namespace
}  // namespace rope_bench
