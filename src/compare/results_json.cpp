// JSON and JSON lines. Rows hold far more than a comparison reads (histograms, worst elements ...),
// so nothing else is ever built: events of the parser go straight into fields.
#include <algorithm>
#include <cstdlib>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/errors.h"
#include "src/compare/results_file.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

class Events : public nlohmann::json_sax<Json> {
 public:
  // `row_depth`: objects at this depth are rows: 3 inside a document's `results`, 1 on their own.
  Events(ResultsFile* file, size_t row_depth, size_t line)
      : file_(*file), row_depth_(row_depth), line_(line) {}

  bool null() override {
    require_row();
    return true;
  }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return scalar(fmt::format("{}", value)); }
  bool number_unsigned(uint64_t value) override { return scalar(fmt::format("{}", value)); }
  bool number_float(double value, const std::string&) override {
    return scalar(fmt::format("{}", value));
  }
  bool string(std::string& value) override { return scalar(value); }
  bool binary(binary_t&) override { return true; }

  bool start_object(size_t) override {
    require_single("an object");
    open();
    if (in_row()) {
      const size_t place = row_depth_ == 1 ? line_ : file_.rows.size();
      file_.rows.emplace_back().line = place;
    }
    return true;
  }
  bool start_array(size_t) override {
    require_single("a list");
    if (path_.size() == 1 && path_[0] == "results") has_results_ = true;
    ++arrays_;
    return open();
  }
  bool end_object() override { return close(); }
  bool end_array() override {
    --arrays_;
    return close();
  }
  bool key(std::string& value) override {
    path_.back() = value;
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    failed_at_ = position;
    return false;
  }

  size_t failed_at() const { return failed_at_; }
  bool has_results() const { return has_results_; }

 private:
  bool open() {
    path_.emplace_back();
    return true;
  }
  bool close() {
    path_.pop_back();
    return true;
  }
  bool in_row() const {
    if (path_.size() != row_depth_) return false;
    return row_depth_ == 1 || path_[0] == "results";
  }

  // What is read of a row is one value each.
  void require_single(const char* what) const {
    if (path_.empty() || !in_row() || field_of_column(path_.back()) == nullptr) return;
    throw ConfigError(fmt::format("{}: row {}: {} is {}; allowed: a single value", file_.path,
                                  file_.rows.size(), path_.back(), what));
  }
  // Entries of `results` are objects.
  void require_row() const {
    if (row_depth_ != 3 || path_.size() != 2 || path_[0] != "results") return;
    throw ConfigError(
        fmt::format("{}: entry {} of results is no row", file_.path, file_.rows.size() + 1));
  }

  bool scalar(const std::string& text) {
    require_row();
    if (in_row()) {
      if (const FieldRow* field = field_of_column(path_.back()))
        set_field(file_, *field, text, &file_.rows.back());
    } else if (row_depth_ != 1 && path_.size() == 1 && path_[0] == "schema_version") {
      file_.schema_version = std::atoll(text.c_str());
    } else if (row_depth_ != 1 && path_.size() > 1 && arrays_ == 0 && path_[0] == "config") {
      // Values in arrays are axes: part of the names of cases.
      std::string pointer;
      for (size_t i = 1; i < path_.size(); ++i) pointer += "/" + path_[i];
      file_.config[pointer] = text;
    }
    return true;
  }

  ResultsFile& file_;
  size_t row_depth_, line_;
  // The key in each open object, nothing for open arrays.
  std::vector<std::string> path_;
  size_t arrays_ = 0, failed_at_ = 0;
  bool has_results_ = false;
};

size_t after_mark(const std::string& text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

}  // namespace

void parse_json_results(ResultsFile* file) {
  Events events(file, 3, 0);
  const size_t start = after_mark(file->content);
  if (!Json::sax_parse(file->content.begin() + static_cast<std::ptrdiff_t>(start),
                       file->content.end(), &events)) {
    // Places are counted from 1; the end of the file counts as one more.
    const size_t at = std::min(start + events.failed_at(), file->content.size());
    throw ConfigError(fmt::format("{}: not JSON from byte {} on{}", file->path, at,
                                  at == file->content.size() ? ": truncated" : ""));
  }
  if (!events.has_results() || !file->schema_version) {
    throw ConfigError(fmt::format(
        "{}: not a results file: no \"{}\"; allowed: what `rope-bench run` writes with -o json, "
        "jsonl or csv",
        file->path, events.has_results() ? "schema_version" : "results"));
  }
}

void parse_jsonl_results(ResultsFile* file) {
  const std::string& text = file->content;
  size_t line = 0;
  for (size_t at = after_mark(text); at < text.size();) {
    ++line;
    const size_t end = std::min(text.find('\n', at), text.size());
    const bool blank = text.find_first_not_of(" \t\r", at) >= end;
    Events events(file, 1, line);
    if (!blank && !Json::sax_parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                   text.begin() + static_cast<std::ptrdiff_t>(end), &events)) {
      throw ConfigError(fmt::format("{}:{}: not JSON{}", file->path, line,
                                    end == text.size() ? ": the last line is truncated" : ""));
    }
    at = end + 1;
  }
}

}  // namespace rope_bench
