#include "src/report/summary.h"

#include "gtest/gtest.h"
#include "src/report/numbers.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

RunReport report_of(std::vector<Result> rows) {
  RunReport report = sample_report();
  report.results = std::move(rows);
  return report;
}

Result with_status(Status status) {
  Result row = unsupported_row();
  row.status = status;
  return row;
}

TEST(ExitCodes, WorstStatusDecides) {
  EXPECT_EQ(exit_code_of(report_of({passed_row()})), ExitCode::kGood);
  EXPECT_EQ(exit_code_of(report_of({passed_row(), failed_row()})), ExitCode::kWrong);
  EXPECT_EQ(exit_code_of(report_of({failed_row(), with_status(Status::kError)})),
            ExitCode::kInternal);
  EXPECT_EQ(exit_code_of(report_of({with_status(Status::kUnchecked)})), ExitCode::kGood);
}

TEST(ExitCodes, NothingRanIsNotGood) {
  EXPECT_EQ(exit_code_of(report_of({})), ExitCode::kNothingRan);
  EXPECT_EQ(exit_code_of(report_of({unsupported_row(), with_status(Status::kSkipped),
                                    with_status(Status::kOutOfMemory)})),
            ExitCode::kNothingRan);
  // One row that ran is enough.
  EXPECT_EQ(exit_code_of(report_of({unsupported_row(), passed_row()})), ExitCode::kGood);
}

TEST(ExitCodes, InterruptionComesFirst) {
  RunReport report = report_of({failed_row()});
  report.interrupted = true;
  EXPECT_EQ(exit_code_of(report), ExitCode::kInterrupted);
}

TEST(Verdict, OneLineWithCountsAndExtremes) {
  Result other = passed_row();
  other.rope_case.name = "sample/other";
  other.accuracy->max_ulp = 0.25;
  other.accuracy->max_bound_ratio = 0.25;
  other.timing->limit_ratio = 0.934;
  EXPECT_EQ(
      verdict(report_of({passed_row(), other})),
      "2 cases: 2 passed, worst error 50.0 % of its bound (sample/tokens=4096; exact angles), "
      "limit_ratio 0.93-0.97 (cuda:0, NVIDIA H200; peak 4376 GB/s, floor 0.88 us)");
}

TEST(Verdict, RowsOfOneCaseAreRows) {
  Result warm = passed_row();
  warm.cache = CacheMode::kWarm;
  EXPECT_EQ(verdict(report_of({passed_row(), warm})).substr(0, 16), "2 rows: 2 passed");
}

// C136: every planned row is in the count.
TEST(Verdict, CountsAddUp) {
  EXPECT_EQ(verdict(sample_report()),
            "4 cases: 2 passed, 1 failed, 1 unsupported, "
            "worst error beyond any multiple of its bound (sample/tokens=64; float32 angles), "
            "limit_ratio 0.97 (cuda:0, NVIDIA H200; peak 4376 GB/s, floor 0.88 us)");
}

// A row that passes must not look as if it touched its bound, nor one that fails as if it did not.
TEST(Verdict, WorstErrorIsAPartOfItsBound) {
  const auto worst = [](double ratio) {
    Result row = passed_row();
    row.accuracy->max_bound_ratio = ratio;
    const std::string line = verdict(report_of({row}));
    const size_t from = line.find("worst error ");
    return line.substr(from, line.find(" (sample") - from);
  };
  EXPECT_EQ(worst(0.996), "worst error 99.6 % of its bound");
  EXPECT_EQ(worst(2.5), "worst error 250.0 % of its bound");
  EXPECT_EQ(worst(1e9), "worst error 1e+11 % of its bound");
}

TEST(Verdict, AnInterruptionSaysHowFarItCame) {
  RunReport report = report_of({passed_row()});
  report.interrupted = true;
  report.num_cases = report.num_rows = 39;
  EXPECT_TRUE(verdict(report).starts_with("interrupted: 1 of 39 cases: 1 passed, worst"));
  report.num_rows = 78;
  EXPECT_TRUE(verdict(report).starts_with("interrupted: 1 of 78 rows: 1 passed, worst"));
  report.results.clear();
  EXPECT_TRUE(verdict(report).starts_with("interrupted: 0 of 78 rows: nothing ran"));
}

TEST(Verdict, NothingRan) {
  EXPECT_EQ(verdict(report_of({})),
            "0 cases: nothing ran (cuda:0, NVIDIA H200; peak 4376 GB/s, floor 0.88 us)");
}

TEST(Hints, NameTheWorstElement) {
  EXPECT_EQ(hints(report_of({failed_row()})),
            "failed: sample/tokens=64: q[token 17, head 3, dim 64] is nan, should be 1.2578125; "
            "inf ULP of 1.000 allowed, 2 elements over their bound; "
            "2 of 327680 elements are over their bound\n"
            "  negated_sin: a rotation the other way: negated sines (in k alone)\n");
  EXPECT_EQ(hints(report_of({passed_row()})), "");
}

TEST(Hints, SharedReasonsAreToldOnce) {
  Result row = unsupported_row();
  row.reason = "no such variant";
  EXPECT_EQ(hints(report_of({row, row, row})), "unsupported: no such variant (3 rows)\n");
}

TEST(Hints, AreFew) {
  const std::string text = hints(report_of(std::vector<Result>(100, failed_row())));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);  // each with its diagnosis
  EXPECT_NE(text.find("... and 95 more\n"), std::string::npos);
}

TEST(Numbers, SignificantDigitsWithoutExponent) {
  EXPECT_EQ(significant4(0.0123456), "0.01235");
  EXPECT_EQ(significant4(22.25), "22.25");
  EXPECT_EQ(significant4(1234567.5), "1234568");
  EXPECT_EQ(significant4(0), "0");
}

TEST(Numbers, BytesInPowersOfThousand) {
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(20996), "21.0 kB");
  EXPECT_EQ(human_bytes(4290000000), "4.29 GB");
}

}  // namespace
}  // namespace rope_bench
