// Every format against a file of expected text. After an intended change of a format, run with
// ROPE_BENCH_UPDATE_EXPECTED=1 and read the difference.
#include "src/report/format.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <locale>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/report/columns.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

void expect_file(const std::string& name, const std::string& text) {
  const std::string path = std::string(TEST_DATA_DIR) + "/report/" + name;
  if (std::getenv("ROPE_BENCH_UPDATE_EXPECTED")) {
    std::ofstream(path, std::ios::binary) << text;
  }
  EXPECT_EQ(text, read_file(path)) << "differs from " << path;
}

// One expected file per row of the format table: a new format without one fails here.
class EveryFormat : public testing::TestWithParam<Format> {};

TEST_P(EveryFormat, WritesTheExpectedText) {
  const Format& format = GetParam();
  expect_file(std::string("sample.") + format.name,
              format.write(sample_report(), sample_context()));
}

// Names that are markup somewhere, in rows of every outcome. tests/report/readers_test.py reads
// them.
RunReport hostile_report() {
  const std::string name = "a,b;\"c\"\nd & <e> 'f' | `g` \\ caf\xc3\xa9 \xf0\x9f\x99\x82";
  RunReport report = sample_report();
  report.results = {passed_row(), failed_row(), unsupported_row(), passed_row()};
  report.results[3].status = Status::kError;
  report.results[3].timing.reset();
  for (size_t i = 0; i < report.results.size(); ++i) {
    report.results[i].rope_case.name = name + "/" + std::to_string(i);
    if (i > 0) report.results[i].reason = name;
  }
  return report;
}

TEST_P(EveryFormat, WritesHostileNames) {
  const Format& format = GetParam();
  expect_file(std::string("hostile.") + format.name,
              format.write(hostile_report(), sample_context()));
}

TEST_P(EveryFormat, WritesTheSameInAnyLocale) {
  // Groups digits by three and has a decimal comma, like de_DE, which need not be installed.
  struct German : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Format& format = GetParam();
  const std::string plain = format.write(sample_report(), sample_context());
  const std::locale before = std::locale::global(std::locale(std::locale(), new German));
  const std::string german = format.write(sample_report(), sample_context());
  std::locale::global(before);
  EXPECT_EQ(plain, german);
}

TEST_P(EveryFormat, HasASummary) { EXPECT_STRNE(GetParam().summary, ""); }

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, testing::ValuesIn(formats()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// A strict reader of RFC 4180.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      EXPECT_TRUE(row.back().empty()) << "a quote inside a plain field";
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\r') {
      EXPECT_EQ(text[++i], '\n');
      rows.push_back(std::move(row));
      row.assign(1, "");
    } else {
      EXPECT_NE(c, '\n') << "a bare line feed";
      row.back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(row, std::vector<std::string>(1, "")) << "no line end at the end";
  return rows;
}

std::string csv_field(const std::vector<std::vector<std::string>>& rows, size_t row,
                      const std::string& name) {
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (rows[0][i] == name) return rows[row].at(i);
  }
  ADD_FAILURE() << "no column " << name;
  return "";
}

// C175: rows that did not run neither shift nor drop fields.
TEST(Csv, EveryRowHasTheFieldsOfTheHeader) {
  const auto rows = read_csv(format_named("csv").write(sample_report(), sample_context()));
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), columns().size());
  EXPECT_EQ(csv_field(rows, 3, "name"), "sample/\"quoted\", name");
  EXPECT_EQ(csv_field(rows, 3, "reason"), "variant \"fast\" has no op, yet\nsecond line");
  EXPECT_EQ(csv_field(rows, 3, "time_median_us"), "");
  EXPECT_EQ(csv_field(rows, 1, "labels"), "hbm mixed");
}

// C177, C178, C180.
TEST(Csv, NumbersKeepEveryDigit) {
  const auto rows = read_csv(format_named("csv").write(sample_report(), sample_context()));
  EXPECT_EQ(csv_field(rows, 1, "kernel_max_abs"), "1.785e-08");
  EXPECT_EQ(csv_field(rows, 1, "bandwidth_gb_s"), "1234567.5");
  EXPECT_EQ(std::stod(csv_field(rows, 1, "percent_of_measured_peak")), 12.0);
  EXPECT_EQ(std::stod(csv_field(rows, 1, "limit_ratio")), 0.9662921348314607);
  EXPECT_EQ(csv_field(rows, 4, "seed"), "18446744073709551615");
  EXPECT_EQ(csv_field(rows, 2, "worst_got"), "nan");
  EXPECT_EQ(csv_field(rows, 2, "max_ulp"), "inf");
}

// The order that readers of results rely on: new columns go to the end only.
TEST(Columns, BeginAsPromised) {
  const std::vector<std::string> promised = {
      "name",           "op",           "variant",          "device",         "dtype",
      "cache",          "status",       "reason",           "labels",         "num_tokens",
      "num_heads",      "num_kv_heads", "head_dim",         "rotary_dim",     "pairing",
      "scaling",        "bytes_total",  "time_median_us",   "time_ci_low_us", "time_ci_high_us",
      "time_p5_us",     "time_p95_us",  "time_isolated_us", "num_rounds",     "limit_us",
      "limit_variant",  "limit_ratio",  "bandwidth_gb_s",   "max_ulp",        "tolerance_ulp",
      "kernel_max_abs", "kernel_rms",   "kernel_nmse",      "table_max_abs",  "total_max_abs",
      "worst.tensor",   "worst.token",  "worst.head",       "worst.dim",      "worst.got",
      "worst.want"};
  ASSERT_GE(columns().size(), promised.size());
  for (size_t i = 0; i < promised.size(); ++i) EXPECT_EQ(columns()[i].name, promised[i]);
}

TEST(Columns, HoldOnlyWhatTheirTypeSays) {
  for (const Result& row : sample_report().results) {
    for (const Column& column : columns()) {
      const Cell cell = column.get(row, sample_report());
      SCOPED_TRACE(column.name);
      if (std::holds_alternative<std::monostate>(cell)) {
        EXPECT_TRUE(column.nullable);
        continue;
      }
      switch (column.type) {
        case CellType::kBool:
          EXPECT_TRUE(std::holds_alternative<bool>(cell));
          break;
        case CellType::kInteger:
          EXPECT_TRUE(std::holds_alternative<int64_t>(cell) ||
                      std::holds_alternative<uint64_t>(cell));
          break;
        case CellType::kNumber:
          EXPECT_TRUE(std::holds_alternative<double>(cell));
          break;
        case CellType::kText:
          EXPECT_TRUE(std::holds_alternative<std::string>(cell));
          break;
        case CellType::kTexts:
          EXPECT_TRUE(std::holds_alternative<std::vector<std::string>>(cell));
      }
    }
  }
}

// C157: sequences of 3 and 5 tokens, and 4 rows of padding behind them, in 2 us.
TEST(Columns, TokensPerSecondAreThoseOfRealTokens) {
  RunReport report = sample_report();
  Result& row = report.results[0];
  row.rope_case.op = Op::kVarlenSplitRope;
  row.rope_case.seq_lens = {3, 5};
  row.rope_case.tokens = 12;
  row.timing->median_us = 2;
  const auto columns_of = columns();
  const auto column = std::find_if(columns_of.begin(), columns_of.end(), [](const Column& c) {
    return std::string(c.name) == "tokens_per_s";
  });
  ASSERT_NE(column, columns_of.end());
  EXPECT_EQ(std::get<double>(column->get(row, report)), 4e6);
}

TEST(JsonFormat, NumbersAreNumbersAndAbsentIsNull) {
  const Json document = Json::parse(format_named("json").write(sample_report(), sample_context()));
  const Json& rows = document.at("results");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("percent_of_measured_peak"), 12.0);
  EXPECT_TRUE(rows[0].at("percent_of_measured_peak").is_number());
  EXPECT_EQ(rows[0].at("worst").at("dim"), 64);
  EXPECT_EQ(rows[1].at("worst").at("got"), "NaN");
  EXPECT_EQ(rows[1].at("max_ulp"), "Infinity");
  EXPECT_TRUE(rows[2].at("worst").is_null());
  EXPECT_TRUE(rows[3].at("time_median_us").is_null());
  EXPECT_EQ(rows[3].at("seed"), 18446744073709551615u);
  EXPECT_EQ(document.at("config").at("name"), "sample");
  EXPECT_EQ(document.at("peaks").at("measured_gb_s"), 4375.5);
  EXPECT_EQ(document.at("floor").at("time_us"), 0.875);
}

TEST(JsonFormat, BytesThatAreNotUtf8AreReplaced) {
  RunReport report = sample_report();
  report.results[0].reason = "bad \xff byte";
  const Json document = Json::parse(format_named("json").write(report, sample_context()));
  EXPECT_EQ(document.at("results")[0].at("reason"), "bad \xef\xbf\xbd byte");
}

TEST(JsonLines, EveryLineStandsAlone) {
  const RunReport report = sample_report();
  for (const Result& row : report.results) {
    const std::string line = format_named("jsonl").write_row(row, report);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(Json::parse(line).at("name"), row.rope_case.name);
  }
}

TEST(Markdown, SaysOnceWhatAllRowsShare) {
  RunReport report = sample_report();
  report.results = {passed_row(), passed_row()};
  report.results[1].rope_case.name = "sample/other";
  report.results[1].timing->median_us = 44.5;
  const std::string text = format_named("markdown").write(report, sample_context());
  EXPECT_TRUE(
      text.starts_with("All rows: op rope, variant fast, dtype bf16, pairing neox, cache "
                       "cold, status passed, limit ratio 0.966, "))
      << text;
  EXPECT_NE(text.find("\n\n| case | time us |\n| --- | ---: |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n| sample/other | 44.50 |\n"), std::string::npos) << text;
}

TEST(Markdown, OneRowKeepsItsNumbers) {
  RunReport report = sample_report();
  report.results = {passed_row()};
  const std::string text = format_named("markdown").write(report, sample_context());
  EXPECT_NE(text.find("| sample/tokens=4096 | 22.25 | 0.966 |"), std::string::npos) << text;
}

TEST(JUnit, CountsEveryOutcome) {
  RunReport report = sample_report();
  const Status statuses[] = {Status::kPassed,      Status::kFailed,  Status::kUnchecked,
                             Status::kUnsupported, Status::kSkipped, Status::kOutOfMemory,
                             Status::kError};
  report.results.assign(std::size(statuses), unsupported_row());
  for (size_t i = 0; i < std::size(statuses); ++i) report.results[i].status = statuses[i];
  const std::string text = format_named("junit").write(report, sample_context());
  EXPECT_NE(text.find("<testsuites name=\"rope-bench\" tests=\"7\" failures=\"1\" errors=\"1\" "
                      "skipped=\"3\">"),
            std::string::npos)
      << text;
}

// Rows of one case in both states of the caches must not share a name.
TEST(GoogleBenchmark, NamesAreUniqueAndTimesAreNumbers) {
  RunReport report = sample_report();
  report.results = {passed_row(), passed_row()};
  report.results[1].cache = CacheMode::kWarm;
  const Json rows =
      Json::parse(format_named("google-benchmark").write(report, sample_context()))["benchmarks"];
  EXPECT_EQ(rows[0]["name"], "sample/tokens=4096");
  EXPECT_EQ(rows[1]["name"], "sample/tokens=4096/warm");
  EXPECT_EQ(rows[0]["real_time"], 22.25);
  EXPECT_EQ(rows[0]["time_unit"], "us");
  EXPECT_EQ(rows[0]["bytes_per_second"], 1234567.5e9);
}

// A wrong row has no speed: a slowdown gate must not read it as a value.
TEST(GithubAction, HoldsRightRowsOnly) {
  RunReport report = sample_report();
  report.results = {passed_row(), passed_row()};
  report.results[1].status = Status::kFailed;
  const Json ratios =
      Json::parse(format_named("github-action-benchmark").write(report, sample_context()));
  ASSERT_EQ(ratios.size(), 1u);
  EXPECT_EQ(ratios[0]["unit"], "limit_ratio");
  EXPECT_EQ(ratios[0]["value"], 0.9662921348314607);
  const Json times =
      Json::parse(format_named("github-action-benchmark-time").write(report, sample_context()));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0]["value"], 22.25);
  EXPECT_EQ(times[0]["range"], "22.12 to 22.50");
}

TEST(TerminalTable, IsNarrowAndColouredOnlyOnRequest) {
  ReportContext context = sample_context();
  RunReport report = sample_report();
  report.results = {passed_row(), passed_row()};
  const std::string plain = format_named("table").write(report, context);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_LE(plain.find('\n'), 100u);
  context.color = true;
  EXPECT_NE(format_named("table").write(report, context).find("\x1b[32mpassed\x1b[0m"),
            std::string::npos);
}

}  // namespace
}  // namespace rope_bench
