// Every op through the program on the CPU, and what it says of fused rows beside unfused ones.
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;
using Args = std::vector<std::string>;

ProcessResult run(const Args& more) {
  Args args = {"-c", "phi-2", "-d", "cpu", "--no-measure", "--set", "position_offset=3"};
  args.insert(args.end(), more.begin(), more.end());
  return rope_bench(args);
}

TEST(Ops, AllPassInEveryVariantThatTheCpuHas) {
  const ProcessResult result =
      run({"-a",
           "op=rope,split_rope,norm_split_rope,varlen_split_rope,rope_backward,split_rope_backward",
           "-a", "variant=naive,fast,on_the_fly", "-a", "tokens=1,8", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json rows = Json::parse(result.out).at("results");
  EXPECT_EQ(rows.size(), 36u);
  for (const Json& row : rows) EXPECT_EQ(row.at("status"), "passed") << row.at("name");
}

TEST(Ops, OptionsOfTheFusedOnes) {
  for (const Args& options : std::vector<Args>{
           {"--set", "op=norm_split_rope", "--set", "qkv_bias=true", "--set", "norm.span=row", "-a",
            "tokens=1,64"},
           {"--set", "op=split_rope_backward", "--set", "in_place=true", "-a", "tokens=1,64"},
           {"--set", "op=split_rope", "--set", "layout.order=heads_tokens_dim", "--set", "batch=2",
            "-a", "tokens=1,64"},
           {"--set", "op=varlen_split_rope", "--set", "seq_lens=[3,0,5]", "--set", "tokens=10",
            "--set", "varlen.output=padded"}}) {
    const ProcessResult result = run(options);
    EXPECT_EQ(result.exit_code, 0) << options[1] << ": " << result.out << result.err;
  }
}

TEST(Ops, AMissingVariantIsARowWithAReason) {  // C119
  const Args some = {"--set", "op=rope_backward", "-a", "variant=fast,per_head", "-a", "tokens=8"};
  const ProcessResult result = run(some);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("unsupported: no variant per_head of op rope_backward on cpu"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(run({"--set", "op=rope_backward", "--set", "variant=per_head"}).exit_code, 5);
}

TEST(Ops, FusedRowsAreComparedWithUnfusedOnes) {
  const ProcessResult result = rope_bench(
      {"-c", "fused", "-d", "cpu", "--filter", "split/split_rope/(fast|unfused)/bf16/T1$", "--set",
       "measure.max_time_s=0.01", "--set", "measure.cache=warm"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_NE(result.out.find("fused/split/split_rope/fast/bf16/T1: "), std::string::npos);
  EXPECT_NE(result.out.find(" us, 25.1 kB; unfused "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" us, 45.6 kB: saves "), std::string::npos) << result.out;
}

TEST(Ops, DescribeSaysWhereOperandsLie) {
  const ProcessResult result = rope_bench({"describe", "-c", "fused", "--filter",
                                           "split/norm_split_rope/fast/bf16/T64$", "-o", "json"});
  const Json c = Json::parse(result.out).at("cases").at(0);
  EXPECT_EQ(c.at("norm").at("span"), "head");
  EXPECT_EQ(c.at("layout").at("in").at("buffer_elements").at("qkv"), 64 * 48 * 128);
  EXPECT_EQ(c.at("layout").at("in").at("operands").at("v").at("offset"), 40 * 128);
  EXPECT_EQ(c.at("layout").at("out").at("operands").at("v").at("token_stride"), 8 * 128);
  EXPECT_TRUE(c.at("sequences").is_null());
}

TEST(Ops, DescribeKnowsThatSomeVariantsReadNoTable) {
  const ProcessResult result = rope_bench(
      {"describe", "-c", "fused", "--filter", "plain/rope/on_the_fly/bf16/T64$", "-o", "json"});
  EXPECT_EQ(Json::parse(result.out).at("cases").at(0).at("bytes").at("table"), 0);
}

}  // namespace
}  // namespace rope_bench
