// The printed schema says the same as the reader.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// What one key may and may not be, for the reader and for the schema alike.
const std::vector<std::string>& good_members() {
  static const std::vector<std::string> kGood = {
      R"("rope": {"rotary_dim": [32, 16, null]})",
      R"("rope": {"scaling": {"type": "linear", "factor": [1, 2]}})",
      R"("rope": {"scaling": [null, {"type": "ntk", "alpha": 4}]})",
      R"("rope": {"scaling": {"type": "many", "scales": [[1, 2], [3]]}})",
      R"("rope": {"axes": {"kind": "mrope", "section": [[16, 8, 8], [8, 12, 12]]}})",
      R"("rope": {"pairing": ["neox", "interleaved", "partial"]})",
      R"("rope": {"theta": 0.5, "table": {"dtype": "data"}})",
      R"("positions": [3, 2, 1, 0])",
      R"("positions": ["random", [3, 2, 1, 0]])",
      R"("seed": 18446744073709551615)",
      R"("norm": [{"eps": 1e-5}, {}], "op": "norm_split_rope")",
      R"("measure": {"cache": ["cold", "both"], "precision": 1})",
      R"("cases": [{"name": "a", "tokens": 3}, {"model": {"gqa_ratio": 8}}])",
      R"("$schema": "x", "description": "d", "name": "n", "data": "wide", "qkv_bias": null)"};
  return kGood;
}

const std::vector<std::string>& bad_members() {
  static const std::vector<std::string> kBad = {R"("rope": {"rotary_dim": 63})",
                                                R"("rope": {"rotary_dim": [32, 0]})",
                                                R"("rope": {"theta": 0})",
                                                R"("rope": {"theta": "1"})",
                                                R"("rope": {"tetha": 1})",
                                                R"("rope": {"scaling": {"type": "nope"}})",
                                                R"("rope": {"scaling": {"type": 1}})",
                                                R"("rope": {"scaling": []})",
                                                R"("rope": {"partial_rotary_factor": 2})",
                                                R"("positions": "sideways")",
                                                R"("positions": [0, "random"])",
                                                R"("seed": -1)",
                                                R"("seq_lens": [1, -1], "x": 1)",
                                                R"("dtype": [])",
                                                R"("dtype": "f64")",
                                                R"("name": ["a"])",
                                                R"("norm": {"weight_offset": 2})",
                                                R"("norm": {"given": true})",
                                                R"("cases": [])",
                                                R"("cases": [{"cases": []}])",
                                                R"("cases": [{"dtype": "f64"}])",
                                                R"("layout": {"q": {"token_stride": 1.5}})",
                                                R"("qkv_bias": 0)"};
  return kBad;
}

// 0 all as expected, 1 not, 77 the module is missing.
int run_validator(const fs::path& schema, const fs::path& documents) {
  // The distribution's own interpreter is the one that its module packages serve.
  const std::string python = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  const std::string command =
      python + " " + SCHEMA_SCRIPT + " '" + schema.string() + "' '" + documents.string() + "'";
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(Schema, ReaderTakesAndRefusesTheSame) {
  for (const std::string& member : good_members()) {
    EXPECT_EQ(error_of(config_with(member)), "no error") << member;
  }
  for (const std::string& member : bad_members()) {
    EXPECT_NE(error_of(config_with(member)), "no error") << member;
  }
}

TEST(Schema, ShippedConfigsAndExamplesValidate) {
  Json documents = {{"valid", Json::array()}, {"invalid", Json::array()}};
  for (const fs::directory_entry& entry : fs::directory_iterator(CONFIG_DIR)) {
    std::ifstream in(entry.path());
    documents["valid"].push_back(Json::parse(in, nullptr, true, /*ignore_comments=*/true));
  }
  for (const std::string& member : good_members()) {
    documents["valid"].push_back(Json::parse(config_with(member)));
  }
  for (const std::string& member : bad_members()) {
    documents["invalid"].push_back(Json::parse(config_with(member)));
  }
  const fs::path dir = fs::path(::testing::TempDir()) / ("schema_test_" + std::to_string(getpid()));
  fs::create_directories(dir);
  std::ofstream(dir / "schema.json") << config_schema(catalog());
  std::ofstream(dir / "documents.json") << documents.dump();
  const int code = run_validator(dir / "schema.json", dir / "documents.json");
  fs::remove_all(dir);
  if (code == 77) GTEST_SKIP() << "the Python module jsonschema is not installed";
  EXPECT_EQ(code, 0);
}

TEST(Schema, EveryKeyIsDocumented) {
  std::ifstream in(CONFIG_DOC);
  const std::string doc((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(doc.empty());
  const Json schema = Json::parse(config_schema(catalog()));
  for (const auto& [path, value] : schema["$defs"].items()) {
    const std::string leaf = path.substr(path.rfind('.') + 1);
    if (path.starts_with("rope.scaling.") && leaf != "type" && leaf != "rope_type") continue;
    if (path == "case") continue;
    EXPECT_NE(doc.find("`" + leaf + "`"), std::string::npos) << path;
  }
}

}  // namespace
}  // namespace rope_bench::testing
