#include "src/compare/margins_file.h"

#include <filesystem>

#include "gtest/gtest.h"
#include "src/case/errors.h"
#include "src/compare/compare.h"
#include "tests/compare/results.h"

namespace rope_bench {
namespace {

std::string refusal(const std::string& text) {
  const std::string path = write_text("margins", text);
  std::string message = "read";
  try {
    read_margins(path);
  } catch (const ConfigError& error) {
    message = std::string(error.what()).substr(path.size());
  }
  std::filesystem::remove(path);
  return message;
}

TEST(MarginsFile, ReadsWhatItWrites) {
  Margins margins("NVIDIA H200");
  margins.add({"a, \"b\"", "fast", "bf16", "cold", 0.0325, 0.02});
  margins.add({"b", "fast", "bf16", "cold", 0, 0.5});  // too noisy for compare
  const std::string path = write_text("margins", margins.json());
  const Margins back = read_margins(path);
  EXPECT_EQ(back.find("b", "fast", "bf16", "cold")->compare, 0);
  EXPECT_DOUBLE_EQ(back.find("b", "fast", "bf16", "cold")->gate, 0.5);
  std::filesystem::remove(path);
  EXPECT_EQ(back.device_model(), "NVIDIA H200");
  const CaseMargin* own = back.find("a, \"b\"", "fast", "bf16", "cold");
  ASSERT_NE(own, nullptr);
  EXPECT_DOUBLE_EQ(own->compare, 0.0325);
  EXPECT_DOUBLE_EQ(own->gate, 0.02);
  EXPECT_EQ(back.find("a, \"b\"", "fast", "bf16", "warm"), nullptr);
  EXPECT_NO_THROW(require_margins_of(back, path, "NVIDIA H200"));
  EXPECT_THROW(require_margins_of(back, path, "NVIDIA B200"), ConfigError);
}

TEST(MarginsFile, RefusesAnythingElse) {
  const std::string end = "; allowed: what `rope-bench calibrate` writes";
  EXPECT_EQ(refusal("{"), ": not JSON, or truncated" + end);
  EXPECT_EQ(refusal("{}"), ": no margins" + end);
  for (const char* cases : {"null", "{}", "[]", "3"}) {
    EXPECT_EQ(refusal(std::string(R"({"margins_version": 1, "device_model": "x", "cases": )") +
                      cases + "}"),
              ": cases are no list, or none" + end);
  }
  Margins twice("x");
  twice.add({"a", "fast", "bf16", "cold", 0.03, 0.02});
  std::string text = twice.json();
  const size_t first = text.find("    {"), last = text.rfind("    }") + 5;
  text.insert(last, ",\n" + text.substr(first, last - first));
  EXPECT_EQ(refusal(text), ": a twice" + end);
  EXPECT_EQ(refusal(R"({"margins_version": 2})"), ": margins_version 2" + end);
  EXPECT_EQ(refusal(R"({"margins_version": 1, "device_model": "x", "cases": [
              {"name": "a", "variant": "", "dtype": "", "cache": "", "compare_margin_percent": -1}]})"),
            ": compare_margin_percent -1" + end);
  // A margin that lets twice the time pass gates nothing.
  EXPECT_EQ(refusal(R"({"margins_version": 1, "device_model": "x", "cases": [
              {"name": "a", "variant": "", "dtype": "", "cache": "", "compare_margin_percent": 100}]})"),
            ": compare_margin_percent 100" + end);
  EXPECT_EQ(refusal(R"({"margins_version": 1, "cases": []})"),
            ": key 'device_model' not found" + end);
}

// 3 % slower: beyond 2 %, within the case's own 4 %.
TEST(MarginsFile, IsWhatItsCasesAreJudgedBy) {
  const ResultsFile base = read_back(made_up_report({{"a", 100, 0.8}, {"b", 100, 0.8}}));
  const ResultsFile now =
      read_back(made_up_report({{"a", 103, 0.8 / 1.03}, {"b", 103, 0.8 / 1.03}}));
  CompareOptions options;
  options.margins.add({"b", "fast", "bf16", "cold", 0.04, 0.02});
  const Comparison c = compare(base, now, options);
  EXPECT_EQ(c.cases[0].verdict, Verdict::kRegression);
  EXPECT_EQ(c.cases[1].verdict, Verdict::kPass);
  EXPECT_DOUBLE_EQ(c.cases[1].margin, 0.04);
  options.margins.add({"b", "fast", "bf16", "cold", 0, 0.04});  // of gate alone
  EXPECT_DOUBLE_EQ(compare(base, now, options).cases[1].margin, options.margin);
}

}  // namespace
}  // namespace rope_bench
