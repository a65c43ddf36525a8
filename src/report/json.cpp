#include <cmath>

#include "nlohmann/json.hpp"
#include "src/report/columns.h"
#include "src/report/details.h"
#include "src/report/fusion.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) {
  return value ? result_number(*value) : Json(nullptr);
}

Json cell_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) return nullptr;
        if constexpr (std::is_same_v<T, double>) return result_number(value);
        if constexpr (!std::is_same_v<T, std::monostate>) return value;
      },
      cell);
}

Json config_json(const std::string& text) {
  if (text.empty()) return nullptr;
  Json config = Json::parse(text, nullptr, false);
  return config.is_discarded() ? Json(text) : config;
}

Json fusion_json(const RunReport& report) {
  Json pairs = Json::array();
  for (const FusionPair& pair : fusion_pairs(report)) {
    pairs.push_back({{"name", pair.fused->rope_case.name},
                     {"unfused_name", pair.unfused->rope_case.name},
                     {"cache", name(pair.fused->cache)},
                     {"saved_us", result_number(pair.saved_us())},
                     {"saved_time_percent", result_number(pair.saved_time_percent())},
                     {"saved_bytes", pair.saved_bytes()},
                     {"saved_bytes_percent", result_number(pair.saved_bytes_percent())}});
  }
  return pairs;
}

}  // namespace

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json result_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json row_json(const Result& row, const RunReport& report) {
  Json json = Json::object();
  for (const Column& column : columns()) {
    const ColumnPath path = path_of(column);
    Json value = cell_json(column.get(row, report));
    if (path.group.empty()) {
      json[path.leaf] = std::move(value);
      continue;
    }
    // An object whose members are all absent is absent itself.
    Json& group = json[path.group];
    if (!value.is_null() || (column.optional_member && !group.is_null()))
      group[path.leaf] = std::move(value);
  }
  json.update(details_json(row));
  return json;
}

Json tool_json(const ToolInfo& tool) {
  return {{"name", tool.name},
          {"version", tool.version},
          {"commit", tool.commit.empty() ? Json(nullptr) : Json(tool.commit)},
          {"dirty", tool.dirty},
          {"compiler", tool.compiler},
          {"cuda_toolkit", tool.cuda_toolkit.empty() ? Json(nullptr) : Json(tool.cuda_toolkit)}};
}

Json env_json(const DeviceInfo& device) {
  Json details = Json::object();
  for (const auto& [key, value] : device.details) details[key] = value;
  return {{"device", device.device},
          {"model", device.model},
          {"l2_bytes", device.l2_bytes},
          {"memory_bytes", device.memory_bytes},
          {"details", std::move(details)}};
}

std::string write_json(const RunReport& report, const ReportContext& context) {
  Json env = env_json(report.device);
  env["started_utc"] = context.started_utc;
  Json results = Json::array();
  for (const Result& row : report.results) results.push_back(row_json(row, report));
  const Json document = {
      {"schema_version", kResultsSchemaVersion},
      {"tool", tool_json(context.tool)},
      {"env", std::move(env)},
      {"peaks",
       {{"theoretical_gb_s", optional_number(report.device.theoretical_peak_gb_s)},
        {"measured_gb_s", optional_number(report.device.measured_peak_gb_s)}}},
      {"floor",
       {{"time_us", optional_number(report.device.floor_us)},
        {"time_isolated_us", optional_number(report.device.floor_isolated_us)},
        {"time_host_launch_us", optional_number(report.device.floor_host_launch_us)}}},
      {"limit_family_version", report.limit_family_version},
      {"config", config_json(report.config_text)},
      {"results", std::move(results)},
      {"fusion", fusion_json(report)},
      {"command_line", report.command_line},
      {"notes", report.notes},
      {"interrupted", report.interrupted}};
  return dump(document, 2) + "\n";
}

std::string write_jsonl_row(const Result& row, const RunReport& report) {
  return dump(row_json(row, report), -1) + "\n";
}

std::string write_jsonl(const RunReport& report, const ReportContext&) {
  std::string text;
  for (const Result& row : report.results) text += write_jsonl_row(row, report);
  return text;
}

}  // namespace rope_bench
