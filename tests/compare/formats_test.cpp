#include <algorithm>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/compare/comparison_columns.h"
#include "tests/compare/results.h"

namespace rope_bench {
namespace {

class Formats : public testing::Test {
 protected:
  std::string written(const std::string& format, bool color = false) {
    return write_verdicts(table(), format, color);
  }

  VerdictTable table() { return table_of(compare(base_, now_, {})); }

  ResultsFile base_ = read_back(made_up_report({{"a|b, \"c\"\nd", 100, 0.8}, {"gone", 20, 0.5}}));
  ResultsFile now_ = read_back(made_up_report({{"a|b, \"c\"\nd", 125, 0.64}, {"more", 20, 0.5}}));
};

TEST_F(Formats, TableHasALinePerCaseAndTheSummary) {
  const std::string text = written("table");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);  // heading, rule, three rows, summary
  EXPECT_NE(text.find("\na|b, \"c\" d  cold   regression  limit_ratio     25.00"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with(
      "compare: 1 regression, 1 missing, 1 new; regression: a|b, \"c\" d; margin 2 %, floor 0.3 "
      "us\n"))
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(written("table", true).find("\x1b[31mregression"), std::string::npos);
}

TEST_F(Formats, CsvHasEveryColumnInEveryRecord) {
  const std::string text = written("csv");
  const std::string heading = text.substr(0, text.find("\r\n"));
  EXPECT_EQ(std::count(heading.begin(), heading.end(), ',') + 1,
            static_cast<std::ptrdiff_t>(table().columns.size()));
  EXPECT_NE(text.find("\r\n\"a|b, \"\"c\"\"\nd\",rope,fast,cuda:0,bf16,cold,regression,"),
            std::string::npos)
      << text;
  const std::string gone = text.substr(text.find("\r\ngone,") + 2);
  EXPECT_EQ(std::count(gone.begin(), gone.end(), ',') + 1,
            static_cast<std::ptrdiff_t>(table().columns.size()));
}

TEST_F(Formats, JsonHasNumbersAndTheExitCode) {
  const nlohmann::json json = nlohmann::json::parse(written("json"));
  EXPECT_EQ(json.at("exit_code"), 3);
  EXPECT_EQ(json.at("counts").at("regression"), 1);
  EXPECT_EQ(json.at("counts").at("wrong"), 0);
  const nlohmann::json& slow = json.at("cases").at(0);
  EXPECT_EQ(slow.size(), table().columns.size());
  EXPECT_NEAR(slow.at("slowdown_percent"), 25, 1e-9);  // 0.8 / 0.64
  EXPECT_NEAR(slow.at("time_slowdown_percent"), 25, 1e-9);
  EXPECT_NEAR(slow.at("speedup"), 0.8, 1e-12);
  EXPECT_EQ(slow.at("margin_percent"), 2);
  EXPECT_TRUE(json.at("cases").at(1).at("speedup").is_null());
}

TEST_F(Formats, MarkdownKeepsItsColumns) {
  const std::string text = written("markdown");
  EXPECT_TRUE(text.starts_with("**attention**\n\n| case |")) << text;
  EXPECT_NE(text.find("\n| a\\|b, \"c\" d | cold | regression |"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("floor 0.3 us\n")) << text;
}

}  // namespace
}  // namespace rope_bench
