// The format table: every way to write a run down. A format only prints what the column table
// holds.
#ifndef ROPE_BENCH_SRC_REPORT_FORMAT_H_
#define ROPE_BENCH_SRC_REPORT_FORMAT_H_

#include <span>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "src/case/result.h"
#include "src/report/tool_info.h"

namespace rope_bench {

struct ReportContext {
  ToolInfo tool;
  std::string started_utc;  // "2025-01-31T12:00:00Z"
  bool color = false;       // may use ANSI colours
};

struct Format {
  const char* name;
  const char* summary;
  // The whole document of a finished run.
  std::string (*write)(const RunReport& report, const ReportContext& context);
  // Not null: rows stand alone, so that each is written as soon as it is finished.
  std::string (*write_row)(const Result& row, const RunReport& report);
};

std::span<const Format> formats();
std::vector<std::string> format_names();
const Format& format_named(const std::string& name);  // one of format_names()

inline constexpr int kResultsSchemaVersion = 1;

// Numbers that JSON has no spelling for become the strings "NaN", "Infinity" and "-Infinity".
nlohmann::ordered_json result_number(double value);
// A result as an object, keys as in the column table, and its details.
nlohmann::ordered_json row_json(const Result& row, const RunReport& report);
nlohmann::ordered_json tool_json(const ToolInfo& tool);
// What the numbers depend on beside the tool: device, memory sizes, driver, clocks.
nlohmann::ordered_json env_json(const DeviceInfo& device);
// UTF-8 always: bytes that are not become U+FFFD.
std::string dump(const nlohmann::ordered_json& json, int indent);

// JSON Schema (draft 2020-12) of the json format, made from the column table.
std::string results_schema();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_FORMAT_H_
