// `table` beyond the plain row: inner quantities, axes, tables of their own, two readings.
#include <cmath>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

std::vector<std::string> table_args(const std::string& config, std::vector<std::string> more) {
  std::vector<std::string> args = {"table", "-c", config};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

Json table(const std::string& config, std::vector<std::string> more) {
  more.insert(more.end(), {"-o", "json"});
  const ProcessResult result = rope_bench(table_args(config, std::move(more)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

std::string text(const std::string& config, std::vector<std::string> more) {
  const ProcessResult result = rope_bench(table_args(config, std::move(more)));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

void expect_refused(const std::string& config, std::vector<std::string> more,
                    const std::string& part) {
  const ProcessResult result = rope_bench(table_args(config, std::move(more)));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

TEST(TableDetails, InnerQuantitiesInTextAndJson) {
  const Json llama = table("llama3.1-8b", {"--positions", "0"});
  EXPECT_EQ(llama.at("details").at("kept_pairs"), 29);
  EXPECT_EQ(llama.at("details").at("blended_pairs"), 6);
  EXPECT_EQ(llama.at("details").at("scaled_pairs"), 29);
  const Json yarn = table("gpt-oss-20b", {"--positions", "0"});
  EXPECT_NEAR(yarn.at("details").at("correction_range")[0], 8.092779115512402, 1e-12);
  EXPECT_EQ(yarn.at("details").at("ramp").size(), 32u);
  const std::string printed = text("gpt-oss-20b", {"--positions", "0"});
  EXPECT_NE(printed.find("pair  inv_freq                ramp"), std::string::npos) << printed;
  EXPECT_NE(printed.find("correction_range: [8.0927"), std::string::npos);
  // C088: the dynamic base at length 65536.
  const Json dynamic = table("llama7b", {"--set", "model.max_position=32768", "--set", "theta=5e7",
                                         "--set", R"(rope.scaling={"type":"dynamic","factor":6})",
                                         "--seq-len", "65536", "--positions", "0"});
  EXPECT_NEAR(dynamic.at("details").at("base"), 360979300.433, 1e-3);
}

TEST(TableAxes, OnePositionPerAxis) {  // C100
  const std::vector<std::string> mrope = {
      "--set", "theta=5e6", "--set",
      R"(rope.axes={"kind":"mrope_interleaved","section":[24,20,20]})", "--positions"};
  std::vector<std::string> args = mrope;
  args.push_back("10:3:7,4");
  const Json json = table("llama7b", args);
  EXPECT_EQ(json.at("axes").at("axis_of_pair")[1], "h");
  EXPECT_EQ(json.at("axes").at("axis_of_pair")[63], "t");
  EXPECT_EQ(json.at("rows")[0].at("position"), (std::vector<int>{10, 3, 7}));
  EXPECT_EQ(json.at("rows")[1].at("position"), (std::vector<int>{4, 4, 4}));
  EXPECT_NEAR(json.at("rows")[0].at("cos")[1], std::cos(2.35748994126), 1e-11);
  EXPECT_NE(text("llama7b", args).find(": thwthwthw"), std::string::npos);
  args.back() = "10:3";
  expect_refused("llama7b", args, "expected 3 (t:h:w)");
  expect_refused("llama7b", {"--positions", "1:2"}, "there are no rope.axes");
}

TEST(TableKinds, TablesOfTheirOwn) {  // C105
  const Json fope = table("llama7b", {"--set", "num_kv_heads=2", "--set", "rope.scaling.type=fope",
                                      "--positions", "3"});
  EXPECT_EQ(fope.at("details").at("kept_pairs"), 46);
  ASSERT_EQ(fope.at("rows").size(), 2u);
  EXPECT_EQ(fope.at("rows")[1].at("table"), "kv_head_1");
  EXPECT_EQ(fope.at("rows")[1].at("cos")[46], 1.0);
  EXPECT_EQ(fope.at("rows")[1].at("sin")[46], 0.0);
  const Json chunks = table(
      "llama7b",
      {"--set", R"(rope.scaling={"type":"dual_chunk","chunk_size":100})", "--positions", "245"});
  ASSERT_EQ(chunks.at("rows").size(), 5u);
  EXPECT_EQ(chunks.at("rows")[4].at("table"), "query_inter");
  EXPECT_EQ(chunks.at("rows")[4].at("row"), 145);
}

TEST(TableKinds, DirectionAndQueryScale) {
  const Json json =
      table("llama7b", {"--set", "direction=reversed", "--set",
                        R"(rope.query_scale={"beta":0.1,"original_max_position_embeddings":8192})",
                        "--positions", "1,8192"});
  EXPECT_EQ(json.at("direction"), "reversed");
  EXPECT_DOUBLE_EQ(json.at("rows")[0].at("sin")[0], -std::sin(1.0));
  EXPECT_EQ(json.at("rows")[0].at("query_factor"), 1.0);
  EXPECT_NEAR(json.at("rows")[1].at("query_factor"), 1.0693147180559945, 1e-15);
}

TEST(TableErrors, AgainstExactAngles) {
  const auto error = [](const std::string& angle, const std::string& dtype) {
    return table("llama7b", {"--set", "table.angle=" + angle, "--set", "table.dtype=" + dtype,
                             "--positions", "131071"})
        .at("table_max_abs")
        .get<double>();
  };
  EXPECT_LE(error("exact", "f32"), 0x1p-24);
  EXPECT_GT(error("exact", "f16"), 1e-5);
  EXPECT_LE(error("exact", "f16"), 0x1p-11);
  EXPECT_GT(error("exact", "bf16"), 1e-3);
  EXPECT_LE(error("exact", "bf16"), 0x1p-8);
  EXPECT_GT(error("float32", "f32"), 1e-4);
}

TEST(TableVersus, TwoReadingsSideBySide) {
  const std::string other =
      R"({"type":"yarn","factor":32,"original_max_position_embeddings":4096})";
  const Json json = table("gpt-oss-20b", {"--positions", "1", "--versus", other});
  const Json& versus = json.at("versus");
  EXPECT_NEAR(versus.at("max_relative_difference"), 0.762682, 1e-6);
  EXPECT_EQ(versus.at("max_relative_difference_pair"), 17);
  EXPECT_EQ(versus.at("inv_freq").size(), 32u);
  EXPECT_EQ(versus.at("rows").size(), 1u);
  EXPECT_EQ(versus.at("attention_factor"), json.at("attention_factor"));
  const std::string printed = text("gpt-oss-20b", {"--positions", "1", "--versus", other});
  EXPECT_NE(printed.find("0.762682 at pair 17"), std::string::npos) << printed;
  EXPECT_NE(text("gpt-oss-20b", {"--positions", "1", "--versus", "none"})
                .find("attention_factor: 1.3465735902799727 against 1\n"),
            std::string::npos);
  expect_refused("llama7b", {"--versus", "yarm"}, "nearest: \"yarn\"");
  expect_refused("llama7b", {"--versus", "linear"}, "--versus");
  // Pairs that stand still in one reading only have no ratio.
  const Json still =
      table("llama7b", {"--set", "rope.scaling={\"type\":\"fope\",\"num_inv_freq\":3}",
                        "--positions", "0", "--versus", "none"});
  EXPECT_TRUE(still.at("versus").at("max_relative_difference").is_null());
}

TEST(DescribeFacts, InTextAndJson) {
  const ProcessResult json = rope_bench({"describe", "-c", "llama7b", "-o", "json"});
  const Json facts = Json::parse(json.out).at("cases")[0].at("rope").at("facts");
  EXPECT_EQ(facts.at("trained_length"), 4096);
  EXPECT_EQ(facts.at("incomplete_pairs"), 18);
  EXPECT_EQ(facts.at("slowest_repeats"), 54411);
  EXPECT_GT(facts.at("float32_max_abs"), 1e-4);
  const ProcessResult printed = rope_bench({"describe", "-c", "llama7b"});
  for (const char* part : {"trained length 4096: 18 of 64", "repeats from position 54411",
                           "float32 angles are up to"}) {
    EXPECT_NE(printed.out.find(part), std::string::npos) << printed.out;
  }
}

}  // namespace
}  // namespace rope_bench
