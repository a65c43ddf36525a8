#include "src/compare/compare.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/compare/results.h"

namespace rope_bench {
namespace {

struct Outcome {
  std::vector<std::string> verdicts;
  ExitCode code = ExitCode::kInternal;
  std::string summary;
};

Outcome outcome(const RunReport& base, const RunReport& now, const CompareOptions& options = {},
                const std::string& format = "json") {
  const ResultsFile a = read_back(base, format), b = read_back(now, format);
  const Comparison c = compare(a, b, options);
  Outcome o{{}, exit_code_of(c), summary_line(c)};
  for (const CaseVerdict& v : c.cases) o.verdicts.emplace_back(name(v.verdict));
  return o;
}

std::string refusal(const RunReport& base, const RunReport& now) {
  try {
    outcome(base, now);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "compared";
}

using Names = std::vector<std::string>;

CompareOptions margin(double share) {
  CompareOptions options;
  options.margin = share;
  return options;
}

// C152: one shape of two is 3.248 % slower. As a limit_ratio: that of 15.70 us and of 16.21 us over
// a limit of 12.56 us.
TEST(Compare, OneSlowShapeFailsByNameAndNoOther) {
  for (const char* format : {"json", "jsonl", "csv"}) {
    const auto at_noise = [&](double noise, double share) {
      return outcome(
          made_up_report({{"a", 15.70, 12.56 / 15.70, noise}, {"b", 15.70, 0.8, 0.0005}}),
          made_up_report({{"a", 16.21, 12.56 / 16.21, noise}, {"b", 15.70, 0.8, 0.0005}}),
          margin(share), format);
    };
    const Outcome red = at_noise(0.0005, 0.03);
    EXPECT_EQ(red.verdicts, (Names{"regression", "pass"})) << format;
    EXPECT_EQ(red.code, ExitCode::kSlower);
    EXPECT_EQ(red.summary,
              "compare: 1 pass, 1 regression; regression: a; margin 3 %, floor 0.3 us\n");
    EXPECT_EQ(at_noise(0.0005, 0.05).code, ExitCode::kGood);
    const Outcome unclear = at_noise(0.005, 0.03);
    EXPECT_EQ(unclear.verdicts, (Names{"inconclusive", "pass"}));
    EXPECT_EQ(unclear.code, ExitCode::kInconclusive);
    EXPECT_EQ(at_noise(0.005, 0.05).code, ExitCode::kGood);
  }
}

// Clocks fell by 10 % between the files: kernel and limit alike.
// Fewer than six rounds bound no median: their range is no 95 % interval, and a verdict of it would
// be wrong far more often than that.
TEST(Compare, WithoutAnIntervalNothingIsDecided) {
  const std::vector<std::pair<double, double>> to = {{100, 0.8}, {110, 0.72}, {90, 0.88}};
  for (const auto& [time, ratio] : to) {
    const RunReport base = made_up_report({{"a", 100, 0.8}});
    RunReport few = made_up_report({{"a", time, ratio}}), none = few;
    few.results[0].timing->num_rounds = 5;
    none.results[0].timing->limit_ratio_ci_low.reset();
    for (const char* format : {"json", "jsonl", "csv"}) {
      EXPECT_EQ(outcome(base, few, {}, format).verdicts, Names{"inconclusive"});
      EXPECT_EQ(outcome(few, base, {}, format).code, ExitCode::kInconclusive);
      EXPECT_EQ(outcome(base, none, {}, format).verdicts, Names{"inconclusive"});
    }
    few.results[0].timing->num_rounds = 6;
    EXPECT_NE(outcome(base, few).verdicts, Names{"inconclusive"});
    few.results[0].timing->num_rounds = 5;
    const ResultsFile a = read_back(base), b = read_back(few), c = read_back(none);
    EXPECT_EQ(compare(a, b, {}).cases[0].reason, "5 rounds in NEW: an interval needs 6");
    EXPECT_EQ(compare(c, a, {}).cases[0].reason, "no interval in BASE");
  }
}

TEST(Compare, DriftOfTheCardCancels) {
  const Outcome drifted =
      outcome(made_up_report({{"a", 100, 0.8}}), made_up_report({{"a", 110, 0.8}}));
  EXPECT_EQ(drifted.verdicts, Names{"pass"});
}

TEST(Compare, OtherLimitsAreNotComparableSoTimeIsJudged) {
  const RunReport base = made_up_report({{"a", 100, 0.8}});
  RunReport now = made_up_report({{"a", 110, 0.8}});
  now.limit_family_version = base.limit_family_version + 1;
  const ResultsFile a = read_back(base), b = read_back(now);
  const Comparison c = compare(a, b, {});
  EXPECT_STREQ(c.cases[0].judged_by, "time");
  EXPECT_EQ(c.cases[0].verdict, Verdict::kRegression);
  ASSERT_EQ(c.notes.size(), 1u);
  EXPECT_EQ(
      c.notes[0],
      "limit_family_version: \"2\" in BASE, \"3\" in NEW: limit_ratio is not comparable, time is "
      "judged");
}

TEST(Compare, AFloorOfTimeKeepsTinyLaunchesOutOfIt) {
  // 2.0 -> 2.25 us is 12.5 %, and less than 0.3 us.
  const RunReport base = made_up_report({{"a", 2.0, 0.9}}),
                  now = made_up_report({{"a", 2.25, 0.8}});
  EXPECT_EQ(outcome(base, now).verdicts, Names{"pass"});
  CompareOptions none;
  none.floor_us = 0;
  EXPECT_EQ(outcome(base, now, none).verdicts, Names{"regression"});
}

TEST(Compare, EveryVerdictAndTheCodeOfSeveral) {
  RunReport base = made_up_report({{"fast", 100, 0.8}, {"gone", 100, 0.8}, {"slow", 100, 0.8}});
  RunReport now = made_up_report({{"fast", 90, 0.9}, {"more", 100, 0.8}, {"slow", 110, 0.7}});
  const Outcome o = outcome(base, now);
  EXPECT_EQ(o.verdicts, (Names{"improvement", "new", "regression", "missing"}));
  EXPECT_EQ(o.code, ExitCode::kSlower);  // 3 before 4
  now.results.pop_back();
  base.results.pop_back();
  EXPECT_EQ(outcome(base, now).code, ExitCode::kInconclusive);
  // 1 before 4, however fast; 6 before 1.
  now.results[0].status = Status::kFailed;
  now.results[0].reason = "3 elements over";
  const Outcome wrong = outcome(base, now);
  EXPECT_EQ(wrong.verdicts.front(), "wrong");
  EXPECT_EQ(wrong.code, ExitCode::kWrong);
  EXPECT_NE(wrong.summary.find("; wrong: fast;"), std::string::npos) << wrong.summary;
  now.results[1].status = Status::kError;
  EXPECT_EQ(outcome(base, now).code, ExitCode::kInternal);
}

TEST(Compare, RowsThatDidNotRun) {
  RunReport base = made_up_report({{"a"}, {"b"}, {"c"}, {"d"}});
  RunReport now = base;
  const auto stop = [](Result* row, Status status) {
    row->status = status;
    row->timing.reset();
    row->reason = "why";
  };
  stop(&now.results[0], Status::kOutOfMemory);   // ran before: a loss
  stop(&base.results[1], Status::kUnsupported);  // runs now
  stop(&base.results[2], Status::kSkipped);      // never ran
  stop(&now.results[2], Status::kSkipped);
  now.results[3].timing.reset();  // passed, no time: --no-measure
  const Outcome o = outcome(base, now);
  EXPECT_EQ(o.verdicts, (Names{"missing", "new", "pass", "inconclusive"}));
  EXPECT_EQ(o.code, ExitCode::kInconclusive);
  // No tokens, no time, nothing wrong.
  base.results = {base.results[3]};
  base.results[0].timing.reset();
  base.results[0].rope_case.tokens = 0;
  EXPECT_EQ(outcome(base, base).verdicts, Names{"pass"});
}

TEST(Compare, NoCommonCaseIsNoPass) {
  EXPECT_EQ(outcome(made_up_report({}), made_up_report({{"a"}})).code, ExitCode::kNothingRan);
  EXPECT_EQ(outcome(made_up_report({{"a"}}), made_up_report({})).code, ExitCode::kNothingRan);
  EXPECT_EQ(outcome(made_up_report({{"a"}}), made_up_report({{"b"}})).code, ExitCode::kNothingRan);
  EXPECT_EQ(outcome(made_up_report({}), made_up_report({})).summary,
            "compare: no rows; margin 2 %, floor 0.3 us\n");
}

// C154: the baseline on the CPU in f32, the candidate on a GPU in bf16.
TEST(Compare, NoSpeedupBetweenUnlikeDevices) {
  RunReport base = made_up_report({{"a", 500}});
  base.device.model = "a CPU";
  base.results[0].device = "cpu";
  base.results[0].rope_case.dtype = Dtype::kF32;
  const RunReport now = made_up_report({{"a", 100}});
  EXPECT_EQ(refusal(base, now),
            "FILE and FILE are unlike: device: \"cpu\" in BASE, \"cuda\" in NEW; --force compares "
            "them anyway");
  CompareOptions forced;
  forced.force = true;
  const ResultsFile a = read_back(base), b = read_back(now);
  const Comparison c = compare(a, b, forced);
  ASSERT_EQ(c.cases.size(), 1u);
  EXPECT_FALSE(c.cases[0].speedup);
  EXPECT_EQ(c.cases[0].verdict, Verdict::kInconclusive);
  EXPECT_EQ(c.cases[0].reason, "f32 on a CPU in BASE, bf16 on NVIDIA H200 in NEW");
  // Equal ones have one: 500 us over 100 us.
  const ResultsFile like = read_back(made_up_report({{"a", 500}}));
  EXPECT_DOUBLE_EQ(*compare(like, b, {}).cases[0].speedup, 5);
}

TEST(Compare, RefusesUnlikeFilesAndNamesTheDifference) {
  const RunReport base = made_up_report({{"a"}, {"b"}});
  const auto with = [&](const std::function<void(RunReport*)>& change) {
    RunReport now = base;
    change(&now);
    const std::string message = refusal(base, now);
    const std::string start = "FILE and FILE are unlike: ", end = "; --force compares them anyway";
    EXPECT_TRUE(message.starts_with(start) && message.ends_with(end)) << message;
    CompareOptions forced;
    forced.force = true;
    EXPECT_NO_THROW(outcome(base, now, forced));
    return message.substr(start.size(), message.size() - start.size() - end.size());
  };
  EXPECT_EQ(with([](RunReport* r) { r->device.model = "NVIDIA B200"; }),
            "device_model: \"NVIDIA H200\" in BASE, \"NVIDIA B200\" in NEW, in a and 1 more");
  EXPECT_EQ(with([](RunReport* r) { r->results[1].bytes.table = 0; }),
            "bytes_total: \"1343744\" in BASE, \"1310976\" in NEW, in b");
  EXPECT_EQ(with([](RunReport* r) { r->results[0].rope_case.config = "n"; }),
            "config: \"m\" in BASE, \"n\" in NEW, in a");
  EXPECT_EQ(with([](RunReport* r) {
              r->config_text = R"({"name": "m", "model": {"num_heads": 16}, "tokens": [64, 128]})";
            }),
            "config /model/num_heads: \"32\" in BASE, \"16\" in NEW");
}

// A planted slowdown is there to be found; later runs measured by it would all pass.
TEST(Compare, WhatWasSlowedIsNoBaseline) {
  const RunReport good = made_up_report({{"a", 100, 0.8}, {"b", 100, 0.8}});
  RunReport slowed = made_up_report({{"a", 100, 0.8}, {"b", 105, 0.762}});
  slowed.results[1].timing->injected_slowdown_percent = 5;
  for (const char* format : {"json", "jsonl", "csv"}) {
    EXPECT_EQ(outcome(good, slowed, {}, format).verdicts, (Names{"pass", "regression"}));
    EXPECT_THROW(outcome(slowed, good, {}, format), ConfigError);
  }
  EXPECT_EQ(refusal(slowed, good),
            "FILE and FILE are unlike: a slowdown is planted in BASE, in b; --force compares them "
            "anyway");
}

// A baseline from before there was a column for planted slowdowns.
TEST(Compare, ReadsFilesWithoutLaterColumns) {
  const RunReport report = made_up_report({{"a", 100, 0.8}});
  std::string text = text_of("csv", report);
  // All columns from that one on, in the header and in the row.
  const size_t at = text.find(",injected_slowdown_percent");
  ASSERT_NE(at, std::string::npos);
  const size_t end = text.find('\r', at);
  const auto cut = std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                              text.begin() + static_cast<std::ptrdiff_t>(end), ',');
  text.erase(at, end - at);
  for (std::ptrdiff_t i = 0; i < cut; ++i) {
    const size_t field = text.rfind(',');
    text.erase(field, text.rfind('\r') - field);
  }
  const ResultsFile old = parse_results("old.csv", text), now = read_back(report, "csv");
  EXPECT_EQ(compare(old, now, {}).count(Verdict::kPass), 1u);
}

TEST(Compare, AnotherGpuOfTheSameModelIsTheSame) {
  RunReport now = made_up_report({{"a"}});
  now.results[0].device = "cuda:3";
  EXPECT_EQ(outcome(made_up_report({{"a"}}), now).verdicts, Names{"pass"});
}

TEST(Compare, TenThousandRowsUnderTwoSeconds) {
  std::vector<MadeUp> rows;
  for (int i = 0; i < 10000; ++i) rows.push_back({"m/T" + std::to_string(i), 100, 0.8});
  const RunReport report = made_up_report(rows);
  for (const char* format : {"json", "csv"}) {
    const std::string base = write_results("base", format, report),
                      now = write_results("now", format, report);
    // Of the processor: other tests run beside this one.
    const std::clock_t start = std::clock();
    const ResultsFile a = read_results(base), b = read_results(now);
    const Comparison c = compare(a, b, {});
    [[maybe_unused]] const double seconds =
        static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_EQ(c.count(Verdict::kPass), 10000u);
#ifndef __SANITIZE_ADDRESS__  // which costs several times as much
    EXPECT_LT(seconds, 2) << format;
#endif
    std::filesystem::remove(base);
    std::filesystem::remove(now);
  }
}

}  // namespace
}  // namespace rope_bench
