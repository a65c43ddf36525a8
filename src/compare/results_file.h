// Results that a run wrote, read back: JSON, JSON lines or CSV, told apart by what is in them.
#ifndef ROPE_BENCH_SRC_COMPARE_RESULTS_FILE_H_
#define ROPE_BENCH_SRC_COMPARE_RESULTS_FILE_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/compare/fields.h"

namespace rope_bench {

struct ResultRow {
  // As printed; empty: absent. Numbers of JSON that are no whole numbers: shortest digits.
  std::array<std::string, kNumFields> text;
  // Of FieldRole::kNumber.
  std::array<std::optional<double>, kNumFields> number;
  size_t line =
      0;  // CSV, JSON lines: where it begins, from 1; JSON: its place in `results`, from 0

  const std::string& operator[](Field field) const { return text[static_cast<size_t>(field)]; }
  std::optional<double> value(Field field) const { return number[static_cast<size_t>(field)]; }
};

struct ResultsFile {
  enum class Format { kJson, kJsonl, kCsv };
  std::string path;
  Format format = Format::kJson;
  std::string content;                        // the bytes of the file
  std::optional<int64_t> schema_version;      // JSON only
  std::map<std::string, std::string> config;  // JSON only: single values of the resolved config, by
                                              // JSON pointer; of `name`, `model`, `rope` ...
  std::vector<ResultRow> rows;
};
const char* name(ResultsFile::Format format);  // "JSON", "JSON lines", "CSV"

// The bytes of a file. Throws ConfigError: no such file, a folder, unreadable.
std::string read_text(const std::string& path);

// Reads and validates. Throws ConfigError, one line with the path: no such file, a folder, empty,
// truncated, no results, a number that is none (NaN, text, zero or less), a status that no run
// writes, an interval whose ends are exchanged, the same case twice.
ResultsFile read_results(const std::string& path);

// The same of bytes in hand; `path` is only named.
ResultsFile parse_results(const std::string& path, std::string content);

// The parsers behind it: fill rows and what else the format holds. Throw ConfigError.
void parse_json_results(ResultsFile* file);
void parse_jsonl_results(ResultsFile* file);
void parse_csv_results(ResultsFile* file);

// Sets a field from its text; numbers are checked. Throws ConfigError that names the row's place.
void set_field(const ResultsFile& file, const FieldRow& field, const std::string& text,
               ResultRow* row);

// "base.csv:3", "base.json, results[2]".
std::string place_of(const ResultsFile& file, const ResultRow& row);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_RESULTS_FILE_H_
