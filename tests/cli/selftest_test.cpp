// selftest as scripts see it.
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

TEST(SelftestCommand, PrintsRowsAndExitsWithZero) {
  const ProcessResult result = rope_bench({"selftest", "--device", "cpu", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find(" planted faults caught, "), std::string::npos) << result.err;
  const Json rows = Json::parse(result.out).at("rows");
  size_t caught = 0, slowdowns = 0;
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("ok"), true) << row;
    caught += row.at("caught") ? 1 : 0;
    if (row.at("fault").get<std::string>().starts_with("slowdown: ")) {
      ++slowdowns;
      EXPECT_TRUE(row.at("caught")) << row;
      EXPECT_TRUE(row.at("by").get<std::string>().starts_with("seen as ")) << row;
    } else if (row.at("caught")) {
      EXPECT_TRUE(row.at("by").is_string()) << row;
      EXPECT_TRUE(row.at("diagnosis").is_string()) << row;
    }
  }
  EXPECT_EQ(slowdowns, 1u);
  EXPECT_TRUE(result.err.ends_with(", 1 of 1 planted slowdowns seen\n")) << result.err;
  EXPECT_GE(caught, 60u);
  EXPECT_GT(rows.size(), caught);
}

TEST(SelftestCommand, RefusesWhatItCannotDo) {
  const ProcessResult format = rope_bench({"selftest", "-o", "csv"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_NE(format.err.find("table"), std::string::npos) << format.err;
  const ProcessResult config = rope_bench({"selftest", "--config", "smoke"});
  EXPECT_EQ(config.exit_code, 2);
  ProcessOptions no_gpu;
  no_gpu.env = {"CUDA_VISIBLE_DEVICES="};
  const ProcessResult gpu = rope_bench({"selftest", "--device", "cuda"}, no_gpu);
  EXPECT_EQ(gpu.exit_code, 77) << gpu.err;
}

}  // namespace
}  // namespace rope_bench
