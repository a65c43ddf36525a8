#include "src/compare/results_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/compare/likeness.h"
#include "src/report/columns.h"

namespace rope_bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNotResults =
    "not a results file; allowed: what `rope-bench run` writes with -o json, jsonl or csv";

// The first line alone decides: a document begins with "{" or "{\n", a row with its name.
ResultsFile::Format format_of(const std::string& path, const std::string& content) {
  const size_t start = content.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) throw ConfigError(path + ": empty");
  const std::string first = content.substr(start, content.find('\n', start) - start);
  if (first.front() == '{') {
    return first.starts_with("{\"name\"") ? ResultsFile::Format::kJsonl
                                          : ResultsFile::Format::kJson;
  }
  if (first.find("time_median_us") == std::string::npos) {
    throw ConfigError(fmt::format("{}: {}", path, kNotResults));
  }
  return ResultsFile::Format::kCsv;
}

// Without these a row is nobody's; all others may be null.
void require_names(const ResultsFile& file) {
  for (const ResultRow& row : file.rows) {
    for (const Field field : {Field::kName, Field::kStatus}) {
      if (row[field].empty()) {
        throw ConfigError(fmt::format("{}: no {}", place_of(file, row),
                                      fields()[static_cast<size_t>(field)].column));
      }
    }
  }
}

// A word that no run writes says nothing of whether the row is wrong.
void require_known_statuses(const ResultsFile& file) {
  const auto column = std::find_if(columns().begin(), columns().end(), [](const Column& c) {
    return std::string(c.name) == fields()[static_cast<size_t>(Field::kStatus)].column;
  });
  const std::vector<std::string> known = column->choices();
  for (const ResultRow& row : file.rows) {
    const std::string& status = row[Field::kStatus];
    if (std::find(known.begin(), known.end(), status) != known.end()) continue;
    const std::string near = nearest(status, known);
    throw ConfigError(fmt::format("{}: status is \"{}\"; allowed: {}{}", place_of(file, row),
                                  status, fmt::join(known, ", "),
                                  near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
}

void require_order(const ResultsFile& file, Field low, Field high, const char* allowed) {
  for (const ResultRow& row : file.rows) {
    if (!row.value(low) || !row.value(high) || *row.value(low) <= *row.value(high)) continue;
    throw ConfigError(fmt::format("{}: {} is {}, {} is {}; allowed: {}", place_of(file, row),
                                  fields()[static_cast<size_t>(low)].column, row[low],
                                  fields()[static_cast<size_t>(high)].column, row[high], allowed));
  }
}

void require_intervals(const ResultsFile& file) {
  static constexpr struct {
    Field value, low, high;
  } kIntervals[] = {{Field::kTimeMedian, Field::kTimeCiLow, Field::kTimeCiHigh},
                    {Field::kLimitRatio, Field::kLimitRatioCiLow, Field::kLimitRatioCiHigh}};
  for (const auto& interval : kIntervals) {
    require_order(file, interval.low, interval.high, "low up to high");
    require_order(file, interval.low, interval.value, "a value within its interval");
    require_order(file, interval.value, interval.high, "a value within its interval");
  }
}

void require_rows_once(const ResultsFile& file) {
  std::map<std::string, const ResultRow*> seen;
  for (const ResultRow& row : file.rows) {
    const auto [first, is_new] = seen.emplace(identity_of(row), &row);
    if (is_new) continue;
    throw ConfigError(fmt::format("{}: the same case as {}: \"{}\" ({}); every case once",
                                  place_of(file, row), place_of(file, *first->second),
                                  row[Field::kName], row[Field::kCache]));
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw ConfigError(path + ": a folder, not a file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw ConfigError(fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw ConfigError(path + ": cannot be read");
  return std::move(text).str();
}

const char* name(ResultsFile::Format format) {
  static constexpr const char* kNames[] = {"JSON", "JSON lines", "CSV"};
  return kNames[static_cast<int>(format)];
}

std::string place_of(const ResultsFile& file, const ResultRow& row) {
  return file.format == ResultsFile::Format::kJson
             ? fmt::format("{}, results[{}]", file.path, row.line)
             : fmt::format("{}:{}", file.path, row.line);
}

void set_field(const ResultsFile& file, const FieldRow& field, const std::string& text,
               ResultRow* row) {
  const auto at = static_cast<size_t>(field.field);
  row->text[at] = text;
  if (field.role != FieldRole::kNumber || text.empty()) return;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value <= 0) {
    throw ConfigError(fmt::format("{}: {} is \"{}\"; allowed: a number above 0, or none",
                                  place_of(file, *row), field.column, text));
  }
  row->number[at] = value;
}

ResultsFile read_results(const std::string& path) { return parse_results(path, read_text(path)); }

ResultsFile parse_results(const std::string& path, std::string content) {
  ResultsFile file;
  file.path = path;
  file.content = std::move(content);
  file.format = format_of(
      path, file.content.starts_with("\xEF\xBB\xBF") ? file.content.substr(3) : file.content);
  switch (file.format) {
    case ResultsFile::Format::kJson:
      parse_json_results(&file);
      break;
    case ResultsFile::Format::kJsonl:
      parse_jsonl_results(&file);
      break;
    case ResultsFile::Format::kCsv:
      parse_csv_results(&file);
      break;
  }
  require_names(file);
  require_known_statuses(file);
  require_intervals(file);
  require_rows_once(file);
  return file;
}

}  // namespace rope_bench
