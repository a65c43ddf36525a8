#include "src/report/format.h"

#include <stdexcept>

#include "src/report/writers.h"

namespace rope_bench {
namespace {

const Format kFormats[] = {
    {"table", "aligned table for the terminal", write_table, nullptr},
    {"json", "one document: tool, environment, peaks, config, results", write_json, nullptr},
    {"csv", "RFC 4180, one line per case and cache mode", write_csv, nullptr},
    {"jsonl", "one JSON object per line, written as each row ends", write_jsonl, write_jsonl_row},
    {"markdown", "table for a page or a CI summary; what all rows share is said once",
     write_markdown, nullptr},
    {"junit", "XML for CI: a test case per row, wrong ones are failures", write_junit, nullptr},
    {"google-benchmark", "JSON as google-benchmark writes it, for its tools/compare.py",
     write_google_benchmark, nullptr},
    {"github-action-benchmark",
     "JSON array of limit ratios, for that action's tool customBiggerIsBetter",
     write_github_action_ratios, nullptr},
    {"github-action-benchmark-time",
     "JSON array of times in us, for that action's tool customSmallerIsBetter",
     write_github_action_times, nullptr},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

const Format& format_named(const std::string& name) {
  for (const Format& format : kFormats) {
    if (name == format.name) return format;
  }
  throw std::logic_error("no format " + name);
}

}  // namespace rope_bench
