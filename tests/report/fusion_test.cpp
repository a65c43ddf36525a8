#include "src/report/fusion.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/report/writers.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

Result row_of(const std::string& variant, const std::string& rest, double us, int64_t bytes) {
  Result row = passed_row();
  row.rope_case.op = Op::kNormSplitRope;
  row.rope_case.variant = variant;
  row.rope_case.name = "c/norm_split_rope/" + variant + "/bf16/" + rest;
  row.timing->median_us = us;
  row.bytes = {bytes / 2, bytes / 2, 0, 0};
  return row;
}

RunReport report_of(std::vector<Result> rows) {
  RunReport report = sample_report();
  report.results = std::move(rows);
  return report;
}

TEST(Fusion, SaysWhatIsSaved) {
  const RunReport report =
      report_of({row_of("unfused", "T64", 60, 200'000'000), row_of("fast", "T64", 25, 100'000'000),
                 row_of("naive", "T64", 75, 100'000'000)});
  EXPECT_EQ(fusion_lines(report),
            "c/norm_split_rope/fast/bf16/T64: 25.00 us, 100 MB; unfused 60.00 us, 200 MB: "
            "saves 35.00 us (58.3 %), 100 MB (50.0 %)\n"
            "c/norm_split_rope/naive/bf16/T64: 75.00 us, 100 MB; unfused 60.00 us, 200 MB: "
            "saves -15.00 us (-25.0 %), 100 MB (50.0 %)\n");
}

TEST(Fusion, ComparesRowsOfTheSameCaseAlone) {
  Result warm = row_of("fast", "T64", 25, 100);
  warm.cache = CacheMode::kWarm;
  Result untimed = row_of("fast", "T7", 25, 100);
  untimed.timing.reset();
  EXPECT_EQ(fusion_lines(
                report_of({row_of("unfused", "T64", 60, 200), warm, row_of("fast", "T65", 25, 100),
                           row_of("unfused", "T7", 60, 200), untimed})),
            "");
  EXPECT_EQ(fusion_pairs(report_of({row_of("fast", "T64", 25, 100)})).size(), 0u);
}

TEST(Fusion, IsPartOfTheJson) {
  const RunReport report =
      report_of({row_of("fast", "T64", 25, 100), row_of("unfused", "T64", 60, 250)});
  const auto json = nlohmann::json::parse(write_json(report, sample_context()));
  ASSERT_EQ(json["fusion"].size(), 1u);
  EXPECT_EQ(json["fusion"][0]["name"], "c/norm_split_rope/fast/bf16/T64");
  EXPECT_EQ(json["fusion"][0]["unfused_name"], "c/norm_split_rope/unfused/bf16/T64");
  EXPECT_EQ(json["fusion"][0]["saved_us"], 35);
  EXPECT_EQ(json["fusion"][0]["saved_bytes"], 150);
  EXPECT_EQ(json["fusion"][0]["saved_bytes_percent"], 60);
}

}  // namespace
}  // namespace rope_bench
