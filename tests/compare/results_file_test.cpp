#include "src/compare/results_file.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "src/case/errors.h"
#include "src/report/columns.h"
#include "tests/compare/results.h"

namespace rope_bench {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

RunReport two_rows() { return made_up_report({{"a", 100, 0.8}, {"b", 50, 0.7}}); }

TEST(Fields, AreColumnsOfResults) {
  for (const FieldRow& field : fields()) {
    EXPECT_TRUE(std::any_of(columns().begin(), columns().end(), [&](const Column& column) {
      return std::string(column.name) == field.column;
    })) << field.column;
    EXPECT_EQ(field_of_column(field.column), &field);
    EXPECT_EQ(&fields()[static_cast<size_t>(field.field)], &field);
  }
}

TEST(ResultsFile, EveryFormatSaysTheSame) {
  RunReport report = two_rows();
  report.results[0].rope_case.name = "a, \"quoted\",\nlines";
  const ResultsFile json = read_back(report, "json");
  EXPECT_EQ(json.format, ResultsFile::Format::kJson);
  EXPECT_EQ(json.schema_version, 1);
  EXPECT_EQ(json.config.at("/model/num_heads"), "32");
  EXPECT_FALSE(json.config.contains("/tokens"));  // an axis
  ASSERT_EQ(json.rows.size(), 2u);
  EXPECT_EQ(json.rows[0][Field::kName], "a, \"quoted\",\nlines");
  EXPECT_EQ(json.rows[0][Field::kSeed], "0");
  EXPECT_EQ(json.rows[1].value(Field::kTimeMedian), 50);
  EXPECT_EQ(json.rows[1].value(Field::kLimitRatio), 0.7);
  for (const char* format : {"jsonl", "csv"}) {
    const ResultsFile other = read_back(report, format);
    ASSERT_EQ(other.rows.size(), 2u) << format;
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(other.rows[i].text, json.rows[i].text) << format;
      EXPECT_EQ(other.rows[i].number, json.rows[i].number) << format;
    }
  }
}

TEST(ResultsFile, RowsAreObjectsAndTheirFieldsSingleValues) {
  const std::string text = text_of("json", two_rows());
  for (const auto& [from, to, message] :
       {std::tuple{"\"results\": [", "\"results\": [1, ", "entry 1 of results is no row"},
        std::tuple{"\"results\": [", "\"results\": [null, ", "entry 1 of results is no row"},
        std::tuple{"\"variant\": \"fast\"", "\"variant\": {}", "variant is an object"}}) {
    try {
      parse_results("file", replaced(text, from, to));
      ADD_FAILURE() << to;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

// C182: what a spreadsheet leaves of a CSV.
TEST(ResultsFile, CsvAfterASpreadsheet) {
  const RunReport report = two_rows();
  const ResultsFile plain = read_back(report, "csv");
  std::string text = text_of("csv", report);
  std::replace(text.begin(), text.end(), ',', ';');  // no field of these rows holds either
  // The first two columns change places.
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const size_t one = text.find(';', at), two = text.find(';', one + 1);
    const std::string swapped =
        text.substr(one + 1, two - one - 1) + ";" + text.substr(at, one - at);
    text.replace(at, swapped.size(), swapped);
  }
  EXPECT_TRUE(text.starts_with("op;name;"));
  const std::string path = write_text("sheet", "\xEF\xBB\xBF" + text);
  const ResultsFile sheet = read_results(path);
  ASSERT_EQ(sheet.rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(sheet.rows[i].text, plain.rows[i].text);
}

TEST(ResultsFile, WhatIsNoneIsRefused) {
  EXPECT_EQ(refusal_of(""), "FILE: empty");
  EXPECT_EQ(refusal_of(" \n"), "FILE: empty");
  EXPECT_EQ(refusal_of("hello\n"),
            "FILE: not a results file; allowed: what `rope-bench run` writes with -o json, jsonl "
            "or csv");
  EXPECT_NE(refusal_of(R"({"results": []})").find("no \"schema_version\""), std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema_version": 1, "cases": []})").find("no \"results\""),
            std::string::npos);
  EXPECT_EQ(refusal_of(R"({"schema_version": 1, "results": [{"op": "rope"}]})"),
            "FILE, results[0]: no name");
  EXPECT_THROW(read_results("/"), ConfigError);
  EXPECT_THROW(read_results("/no/such/file"), ConfigError);
}

TEST(ResultsFile, WhatIsCutOffIsRefused) {
  const std::string json = text_of("json", two_rows());
  for (const size_t share : {10u, 50u, 99u}) {
    const std::string message = refusal_of(json.substr(0, json.size() * share / 100));
    EXPECT_TRUE(message.ends_with(": truncated")) << message;
  }
  const std::string jsonl = text_of("jsonl", two_rows());
  EXPECT_EQ(refusal_of(jsonl.substr(0, jsonl.size() - 20)),
            "FILE:2: not JSON: the last line is truncated");
  const std::string csv = text_of("csv", two_rows());
  EXPECT_NE(refusal_of(csv.substr(0, csv.size() - 200)).find("FILE:3: "), std::string::npos);
  EXPECT_EQ(refusal_of(csv.substr(0, csv.size() - 2)),
            "FILE:3: the last line has no end: truncated");
}

TEST(ResultsFile, NumbersThatAreNoneAreRefused) {
  const std::string json = text_of("json", two_rows());
  EXPECT_EQ(refusal_of(replaced(json, "\"time_median_us\": 50.0", "\"time_median_us\": \"NaN\"")),
            "FILE, results[1]: time_median_us is \"NaN\"; allowed: a number above 0, or none");
  EXPECT_EQ(refusal_of(replaced(json, "\"limit_ratio\": 0.7", "\"limit_ratio\": -0.7")),
            "FILE, results[1]: limit_ratio is \"-0.7\"; allowed: a number above 0, or none");
  EXPECT_NE(refusal_of(replaced(json, "\"limit_ratio\": 0.7", "\"limit_ratio\": NaN")),
            "read");  // no JSON at all
  const std::string csv = text_of("csv", two_rows());
  EXPECT_EQ(refusal_of(replaced(csv, ",0.7,", ",nan,")),
            "FILE:3: limit_ratio is \"nan\"; allowed: a number above 0, or none");
  EXPECT_EQ(refusal_of(replaced(csv, ",0.7,", ",\"0,7\",")),
            "FILE:3: limit_ratio is \"0,7\"; allowed: a number above 0, or none");
}

// In each format: a word changed in what a run wrote, and what is said of it.
TEST(ResultsFile, StatusesThatNoRunWritesAreRefused) {
  const std::string allowed =
      "allowed: passed, failed, unchecked, unsupported, out_of_memory, skipped, error";
  RunReport report = two_rows();
  const std::string json = text_of("json", report);
  EXPECT_EQ(refusal_of(replaced(json, "\"status\": \"passed\"", "\"status\": \"pased\"")),
            "FILE, results[0]: status is \"pased\"; " + allowed + "; did you mean passed?");
  EXPECT_EQ(refusal_of(replaced(json, "\"status\": \"passed\"", "\"status\": \"Failed\"")),
            "FILE, results[0]: status is \"Failed\"; " + allowed + "; did you mean failed?");
  EXPECT_EQ(refusal_of(replaced(text_of("jsonl", report), "\"passed\"", "\"wonderful\"")),
            "FILE:1: status is \"wonderful\"; " + allowed);
  EXPECT_EQ(refusal_of(replaced(text_of("csv", report), ",passed,", ",ok,")),
            "FILE:2: status is \"ok\"; " + allowed);
  for (const std::string format : {"json", "jsonl", "csv"}) {
    for (int status = 0; status <= static_cast<int>(Status::kError); ++status) {
      report.results[1].status = static_cast<Status>(status);
      EXPECT_EQ(refusal_of(text_of(format, report)), "read") << format << status;
    }
  }
}

TEST(ResultsFile, ValuesOutsideTheirIntervalAreRefused) {
  const auto refused = [](const auto& change) {
    RunReport report = two_rows();
    change(*report.results[1].timing);
    return refusal_of(text_of("json", report));
  };
  const auto ends = [](const std::string& text) {
    return text.ends_with("; allowed: a value within its interval") ? "" : text;
  };
  EXPECT_EQ(ends(refused([](Timing& t) { t.ci_low_us = t.ci_high_us = t.median_us * 2; })), "");
  EXPECT_EQ(ends(refused([](Timing& t) { t.ci_low_us = t.ci_high_us = t.median_us / 2; })), "");
  EXPECT_EQ(ends(refused([](Timing& t) {
              t.limit_ratio_ci_low = t.limit_ratio_ci_high = *t.limit_ratio * 50;
            })),
            "");
  EXPECT_EQ(ends(refused([](Timing& t) {
              t.limit_ratio_ci_low = t.limit_ratio_ci_high = *t.limit_ratio / 50;
            })),
            "");
}

TEST(ResultsFile, IntervalsWithExchangedEndsAreRefused) {
  const auto refused = [](const std::string& format, const auto& change) {
    RunReport report = two_rows();
    change(*report.results[1].timing);
    return refusal_of(text_of(format, report));
  };
  const auto time = [](Timing& t) { t.ci_low_us = 51, t.ci_high_us = 49; };
  const auto ratio = [](Timing& t) { t.limit_ratio_ci_low = 0.75, t.limit_ratio_ci_high = 0.5; };
  const auto infinite = [](Timing& t) { t.ci_high_us = INFINITY; };
  const auto nan = [](Timing& t) { t.limit_ratio_ci_low = NAN; };
  const auto negative = [](Timing& t) { t.ci_low_us = -1; };
  const auto point = [](Timing& t) { t.ci_low_us = t.ci_high_us = 50; };
  for (const auto& [format, place] :
       {std::pair("json", ", results[1]"), std::pair("jsonl", ":2"), std::pair("csv", ":3")}) {
    const std::string row = std::string("FILE") + place + ": ";
    EXPECT_TRUE(refused(format, time).starts_with(row + "time_ci_low_us is 51")) << format;
    EXPECT_TRUE(refused(format, time).ends_with("; allowed: low up to high")) << format;
    EXPECT_EQ(refused(format, ratio),
              row +
                  "limit_ratio_ci_low is 0.75, limit_ratio_ci_high is 0.5; allowed: low up to "
                  "high");
    EXPECT_TRUE(refused(format, infinite).starts_with(row + "time_ci_high_us is \"")) << format;
    EXPECT_TRUE(refused(format, nan).starts_with(row + "limit_ratio_ci_low is \"")) << format;
    EXPECT_TRUE(refused(format, negative).starts_with(row + "time_ci_low_us is \"-1")) << format;
    EXPECT_EQ(refused(format, point), "read");
  }
}

TEST(ResultsFile, ACaseTwiceIsRefused) {
  const RunReport twice = made_up_report({{"a"}, {"b"}, {"a"}});
  EXPECT_EQ(refusal_of(text_of("json", twice)),
            "FILE, results[2]: the same case as FILE, results[0]: \"a\" (cold); every case once");
  EXPECT_EQ(refusal_of(text_of("csv", twice)),
            "FILE:4: the same case as FILE:2: \"a\" (cold); every case once");
  // Not the same: the other cache mode.
  RunReport both = made_up_report({{"a"}, {"a"}});
  both.results[1].cache = CacheMode::kWarm;
  EXPECT_EQ(refusal_of(text_of("csv", both)), "read");
}

}  // namespace
}  // namespace rope_bench
