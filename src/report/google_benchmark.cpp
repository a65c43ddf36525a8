// JSON as google-benchmark writes it with --benchmark_format=json. Source: its docs/user_guide.md
// and what its tools/gbench/report.py reads.
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/report/cells.h"
#include "src/report/columns.h"
#include "src/report/summary.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

// Beyond its own keys, any text is what google-benchmark calls custom context.
Json context_json(const RunReport& report, const ReportContext& context) {
  Json json = {{"date", context.started_utc},        {"executable", context.tool.name},
               {"library_build_type", "release"},    {"json_schema_version", 1},
               {"version", context.tool.version},    {"device", report.device.device},
               {"device_model", report.device.model}};
  for (const auto& [key, value] : report.device.details) json[key] = value;
  return json;
}

// Other numbers of a row are what google-benchmark calls counters.
void add_counters(const Result& row, const RunReport& report, Json& benchmark) {
  for (const Column* column : headed_columns()) {
    const std::optional<double> value = finite_number(column->get(row, report));
    if (value) benchmark[column->name] = *value;
  }
}

// Why a row has no time that could be compared; empty if it has one.
std::string without_time(const Result& row) {
  if (row.status == Status::kFailed) return "failed: " + failure_text(row);
  const bool right = row.status == Status::kPassed || row.status == Status::kUnchecked;
  if (!right) return fmt::format("{}: {}", name(row.status), row.reason);
  return row.timing ? "" : "not measured";
}

// A row without a time has zeros, as google-benchmark writes them beside an error: compare.py wants
// both times of every row.
Json benchmark_json(const Result& row, const RunReport& report) {
  const std::string name = row_name(row), error = without_time(row);
  Json benchmark = {{"name", name},     {"run_name", name},      {"run_type", "iteration"},
                    {"repetitions", 1}, {"repetition_index", 0}, {"threads", 1}};
  if (!error.empty()) {
    benchmark.update({{"error_occurred", true},
                      {"error_message", error},
                      {"iterations", 0},
                      {"real_time", 0.0},
                      {"cpu_time", 0.0},
                      {"time_unit", "us"}});
    return benchmark;
  }
  const Timing& timing = *row.timing;
  benchmark.update({{"iterations", timing.num_launches},
                    {"real_time", result_number(timing.median_us)},
                    {"cpu_time", result_number(timing.host_launch_us.value_or(timing.median_us))},
                    {"time_unit", "us"},
                    {"bytes_per_second", result_number(timing.bandwidth_gb_s * 1e9)}});
  add_counters(row, report, benchmark);
  return benchmark;
}

}  // namespace

std::string write_google_benchmark(const RunReport& report, const ReportContext& context) {
  Json benchmarks = Json::array();
  for (const Result& row : report.results) benchmarks.push_back(benchmark_json(row, report));
  const Json document = {{"context", context_json(report, context)},
                         {"benchmarks", std::move(benchmarks)}};
  return dump(document, 2) + "\n";
}

}  // namespace rope_bench
