// CSV as a run writes it, and as it looks after a spreadsheet: other line ends, a byte-order mark,
// semicolons, columns in another order.
#include <algorithm>

#include "fmt/format.h"
#include "src/case/errors.h"
#include "src/compare/results_file.h"

namespace rope_bench {
namespace {

// Records of RFC 4180, one after the other.
class CsvReader {
 public:
  CsvReader(const ResultsFile& file, size_t start) : file_(file), at_(start) {
    const std::string& text = file.content;
    const std::string heading = text.substr(start, text.find('\n', start) - start);
    separator_ = std::count(heading.begin(), heading.end(), ';') >
                         std::count(heading.begin(), heading.end(), ',')
                     ? ';'
                     : ',';
  }

  // False at the end of the file. `line`: where the record begins.
  bool next(std::vector<std::string>* record, size_t* line) {
    record->clear();
    while (at_ < file_.content.size() && (here() == '\n' || here() == '\r')) step();
    *line = line_;
    if (at_ >= file_.content.size()) return false;
    for (;;) {
      record->push_back(field());
      if (at_ >= file_.content.size()) return true;
      const char end = here();
      step();
      if (end == separator_) continue;
      if (end == '\r' && at_ < file_.content.size() && here() == '\n') step();
      return true;
    }
  }

 private:
  char here() const { return file_.content[at_]; }
  void step() {
    if (here() == '\n') ++line_;
    ++at_;
  }
  std::string field() {
    std::string text;
    if (at_ < file_.content.size() && here() == '"') return quoted();
    while (at_ < file_.content.size() && here() != separator_ && here() != '\n' && here() != '\r') {
      text += here();
      step();
    }
    return text;
  }
  std::string quoted() {
    std::string text;
    const size_t opened = line_;
    for (step();; step()) {
      if (at_ >= file_.content.size()) {
        throw ConfigError(
            fmt::format("{}:{}: a quoted field without an end: truncated", file_.path, opened));
      }
      if (here() != '"') {
        text += here();
      } else if (at_ + 1 < file_.content.size() && file_.content[at_ + 1] == '"') {
        text += '"';
        step();
      } else {
        step();
        return text;
      }
    }
  }

  const ResultsFile& file_;
  size_t at_, line_ = 1;
  char separator_;
};

// Columns are found by their names. The group of a column is part of its name in CSV; none of those
// is read.
std::vector<const FieldRow*> columns_of(const ResultsFile& file,
                                        const std::vector<std::string>& heading) {
  std::vector<const FieldRow*> columns;
  for (const std::string& column : heading) columns.push_back(field_of_column(column));
  for (const FieldRow& field : fields()) {
    const auto times = std::count(columns.begin(), columns.end(), &field);
    if (times == 1 || (times == 0 && field.role == FieldRole::kLater)) continue;
    throw ConfigError(fmt::format("{}:1: {} column {}", file.path,
                                  times == 0 ? "no" : "more than one", field.column));
  }
  return columns;
}

}  // namespace

void parse_csv_results(ResultsFile* file) {
  CsvReader reader(*file, file->content.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  std::vector<std::string> record;
  size_t line = 0;
  reader.next(&record, &line);
  const std::vector<const FieldRow*> columns = columns_of(*file, record);
  while (reader.next(&record, &line)) {
    if (record.size() != columns.size()) {
      throw ConfigError(fmt::format("{}:{}: {} fields, the heading has {}: truncated or damaged",
                                    file->path, line, record.size(), columns.size()));
    }
    ResultRow& row = file->rows.emplace_back();
    row.line = line;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i]) set_field(*file, *columns[i], record[i], &row);
    }
  }
  if (file->content.back() != '\n') {
    throw ConfigError(fmt::format("{}:{}: the last line has no end: truncated", file->path,
                                  file->rows.empty() ? 1 : file->rows.back().line));
  }
}

}  // namespace rope_bench
