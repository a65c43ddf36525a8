// compare as scripts see it: a run on the CPU, written, changed, compared.
#include <sys/stat.h>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/process.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

class CompareCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("b.json", R"({"name": "b", "model": {"num_heads": 1, "head_dim": 64},
                               "tokens": [3, 5], "measure": {"max_time_s": 0.01}})");
    const ProcessResult run = in_folder(
        {"run", "-c", "b", "-d", "cpu", "-q", "-o", "json:base.json", "-o", "csv:base.csv"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    base_ = Json::parse(folder_.read("base.json"));
    // Times of a busy machine are no matter here.
    for (Json& row : base_.at("results")) set_time(row, 100);
    write("base.json", base_);
  }

  static void set_time(Json& row, double us) {
    row["num_rounds"] = 31;
    for (const char* key : {"time_median_us", "time_ci_low_us", "time_ci_high_us"}) row[key] = us;
    for (const char* key : {"limit_ratio", "limit_ratio_ci_low", "limit_ratio_ci_high"})
      row[key] = 80 / us;
  }
  void write(const std::string& file, const Json& results) { folder_.write(file, results.dump(2)); }
  ProcessResult in_folder(const std::vector<std::string>& args) {
    ProcessOptions options;
    options.folder = folder_.path();
    return rope_bench(args, options);
  }
  // The base with other times in all its rows.
  Json with_time(double us) {
    Json results = base_;
    for (Json& row : results.at("results")) set_time(row, us);
    return results;
  }

  ScratchFolder folder_;
  Json base_;
};

TEST_F(CompareCommand, ExitCodesAndSummary) {
  const auto code = [&](const Json& now) {
    write("new.json", now);
    const ProcessResult result = in_folder({"compare", "base.json", "new.json"});
    EXPECT_NE(result.out.find("\ncompare: "), std::string::npos) << result.out << result.err;
    return result.exit_code;
  };
  EXPECT_EQ(code(base_), 0);
  EXPECT_EQ(code(with_time(110)), 3);
  Json wrong = with_time(50);
  wrong["results"][1]["status"] = "failed";
  EXPECT_EQ(code(wrong), 1);
  Json missing = base_;
  missing["results"].erase(0);
  EXPECT_EQ(code(missing), 4);
  Json others = base_;
  for (Json& row : others.at("results")) row["name"] = "other " + std::string(row["name"]);
  EXPECT_EQ(code(others), 5);
  EXPECT_EQ(in_folder({"compare", "base.json", "new.json", "--exit-zero"}).exit_code, 0);
  // What a run wrote can be compared as it is; how noisy it was is no matter.
  const ProcessResult itself =
      in_folder({"compare", "base.csv", "base.csv", "-o", "json", "--exit-zero"});
  EXPECT_EQ(itself.exit_code, 0) << itself.err;
  const Json report = Json::parse(itself.out);
  EXPECT_EQ(
      report.at("counts").at("pass").get<int>() + report.at("counts").at("inconclusive").get<int>(),
      2);
}

TEST_F(CompareCommand, MarginsAndFormats) {
  write("new.json", with_time(103.248));
  EXPECT_EQ(in_folder({"compare", "base.json", "new.json", "--margin", "3%"}).exit_code, 3);
  EXPECT_EQ(in_folder({"compare", "base.json", "new.json", "--margin", "5%"}).exit_code, 0);
  EXPECT_EQ(
      in_folder({"compare", "base.json", "new.json", "--margin", "3", "--floor", "4us"}).exit_code,
      0);
  const ProcessResult both =
      in_folder({"compare", "base.json", "new.json", "-o", "json", "-o", "markdown:summary.md"});
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_EQ(Json::parse(both.out).at("exit_code"), 3);
  EXPECT_TRUE(both.err.starts_with("compare: ")) << both.err;
  EXPECT_TRUE(folder_.read("summary.md").starts_with("**attention**"));
  for (const char* margin : {"0", "-1%", "100%", "x", "nan", "2%%"}) {
    const ProcessResult bad = in_folder({"compare", "base.json", "new.json", "--margin", margin});
    EXPECT_EQ(bad.exit_code, 2) << margin;
    EXPECT_NE(bad.err.find("--margin " + std::string(margin)), std::string::npos) << bad.err;
  }
}

TEST_F(CompareCommand, BadInputIsOneLine) {
  folder_.write("empty", "");
  folder_.write("cut.json", base_.dump(2).substr(0, 2000));
  Json newer = base_;
  newer["schema_version"] = 2;
  write("newer.json", newer);
  for (const auto& [file, said] : std::vector<std::pair<std::string, std::string>>{
           {"empty", "empty: empty"},
           {"cut.json", "cut.json: not JSON from byte 2000 on: truncated"},
           {"newer.json",
            "newer.json and base.json are unlike: newer.json: schema_version 2; this rope-bench "
            "reads 1; --force compares them anyway"},
           {"none.json", "none.json: No such file or directory"},
           {".", ".: a folder, not a file"}}) {
    const ProcessResult result = in_folder({"compare", file, "base.json"});
    EXPECT_EQ(result.exit_code, 2) << file;
    EXPECT_EQ(result.err, "rope-bench: " + said + "\n");
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(in_folder({"compare", "newer.json", "base.json", "--force"}).exit_code, 0);
  EXPECT_EQ(in_folder({"compare", "base.json"}).exit_code, 2);
  EXPECT_EQ(in_folder({"compare", "base.json", "base.json", "-o", "json:base.json"}).exit_code, 2);
  EXPECT_EQ(in_folder({"compare", "base.json", "base.json", "-o", "json:."}).exit_code, 2);
  if (access("/dev/full", W_OK) == 0) {
    ProcessOptions full;
    full.folder = folder_.path();
    full.stdout_file = "/dev/full";
    EXPECT_EQ(rope_bench({"compare", "base.json", "base.json"}, full).exit_code, 6);
  }
}

TEST_F(CompareCommand, UpdatesTheBaselineOnlyIfNothingIsWrong) {
  const std::string before = folder_.read("base.json");
  write("slow.json", with_time(120));
  const ProcessResult slow =
      in_folder({"compare", "base.json", "slow.json", "--update-baseline", "--exit-zero"});
  EXPECT_EQ(slow.exit_code, 0);
  EXPECT_NE(slow.err.find("base.json is kept"), std::string::npos) << slow.err;
  EXPECT_EQ(folder_.read("base.json"), before);
  write("fast.json", with_time(90));
  EXPECT_EQ(in_folder({"compare", "base.json", "fast.json", "--update-baseline"}).exit_code, 0);
  EXPECT_EQ(folder_.read("base.json"), folder_.read("fast.json"));
  Json slowed = with_time(90);
  slowed["results"][0]["injected_slowdown_percent"] = 5;
  write("slowed.json", slowed);
  const ProcessResult planted =
      in_folder({"compare", "base.json", "slowed.json", "--update-baseline"});
  EXPECT_EQ(planted.exit_code, 0);
  EXPECT_NE(planted.err.find("base.json is kept: a slowdown is planted in slowed.json"),
            std::string::npos)
      << planted.err;
  EXPECT_EQ(folder_.read("base.json"), folder_.read("fast.json"));
  const ProcessResult mixed =
      in_folder({"compare", "base.csv", "fast.json", "--update-baseline", "--force"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_NE(mixed.err.find("base.csv is CSV, fast.json is JSON"), std::string::npos) << mixed.err;
}

}  // namespace
}  // namespace rope_bench
