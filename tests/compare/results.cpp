#include "tests/compare/results.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/case/errors.h"
#include "src/report/format.h"

namespace rope_bench {

Result made_up_row(const MadeUp& m) {
  Result row;
  RopeCase& c = row.rope_case;
  c.name = m.name;
  c.config = "m";
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.rope.rotary_dim = 128;
  c.tokens = 64;
  row.device = "cuda:0";
  row.bytes = {64 * 10240, 64 * 10240, 64 * 512, 64 * 4};
  row.status = Status::kPassed;
  Timing t;
  t.num_rounds = 31;
  t.median_us = m.time_us;
  t.ci_low_us = m.time_us * (1 - m.noise);
  t.ci_high_us = m.time_us * (1 + m.noise);
  t.limit_us = m.time_us * m.ratio;
  t.limit_ratio = m.ratio;
  t.limit_ratio_ci_low = m.ratio * (1 - m.noise);
  t.limit_ratio_ci_high = m.ratio * (1 + m.noise);
  row.timing = t;
  return row;
}

RunReport made_up_report(const std::vector<MadeUp>& rows) {
  RunReport report;
  report.device.device = "cuda:0";
  report.device.model = "NVIDIA H200";
  report.config_text = R"({"name": "m", "model": {"num_heads": 32}, "tokens": [64]})";
  for (const MadeUp& row : rows) report.results.push_back(made_up_row(row));
  return report;
}

std::string text_of(const std::string& format, const RunReport& report) {
  return format_named(format).write(report, {});
}

std::string write_text(const std::string& file, const std::string& text) {
  // Tests run side by side.
  const std::string path = testing::TempDir() + "/compare-" + std::to_string(getpid()) + "-" + file;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string write_results(const std::string& file, const std::string& format,
                          const RunReport& report) {
  return write_text(file, text_of(format, report));
}

ResultsFile read_back(const RunReport& report, const std::string& format) {
  const std::string path = write_results("back", format, report);
  ResultsFile file = read_results(path);
  std::filesystem::remove(path);
  file.path = "FILE";
  return file;
}

std::string refusal_of(const std::string& text) {
  const std::string path = write_text("bad", text);
  std::string message = "read";
  try {
    read_results(path);
  } catch (const ConfigError& error) {
    message = error.what();
  }
  std::filesystem::remove(path);
  for (size_t at; (at = message.find(path)) != std::string::npos;)
    message.replace(at, path.size(), "FILE");
  return message;
}

}  // namespace rope_bench
