// Made-up results files, written by the tool's own formats.
#ifndef ROPE_BENCH_TESTS_COMPARE_RESULTS_H_
#define ROPE_BENCH_TESTS_COMPARE_RESULTS_H_

#include <string>
#include <vector>

#include "src/case/result.h"
#include "src/compare/results_file.h"

namespace rope_bench {

// A row that passed; noise is the half-width of its intervals, a share.
struct MadeUp {
  std::string name = "m/T64";
  double time_us = 100, ratio = 0.8, noise = 0.0005;
};
Result made_up_row(const MadeUp& made_up);
RunReport made_up_report(const std::vector<MadeUp>& rows);

// `format`: json, jsonl, csv. Returns the path of a file of the test's own.
std::string write_results(const std::string& file, const std::string& format,
                          const RunReport& report);
std::string text_of(const std::string& format, const RunReport& report);
std::string write_text(const std::string& file, const std::string& text);
// Through a file.
ResultsFile read_back(const RunReport& report, const std::string& format = "json");
// The message of the ConfigError that reading this text ends with; "read" if it does not.
std::string refusal_of(const std::string& text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_COMPARE_RESULTS_H_
