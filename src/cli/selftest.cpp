// `selftest`: planted faults, each of which a run must catch, and a planted slowdown.
#include <algorithm>
#include <chrono>
#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/measure/runner.h"
#include "src/measure/selftest.h"
#include "src/report/numbers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

struct SelftestOptions {
  std::string device = "auto";
  std::vector<std::string> outputs;
};

// Rows of one kind, and how many of them are as they must be.
struct Count {
  size_t ok = 0, all = 0;
};

std::string closing(const std::vector<SelftestRow>& rows) {
  Count faults, right, slowdowns;
  std::string complaints;
  for (const SelftestRow& row : rows) {
    Count& count = row.fault.starts_with("right: ")      ? right
                   : row.fault.starts_with("slowdown: ") ? slowdowns
                                                         : faults;
    ++count.all;
    count.ok += row.ok ? 1 : 0;
    if (!row.ok) complaints += fmt::format("wrong: {}: {}\n", row.fault, row.complaint);
  }
  return complaints +
         fmt::format(
             "{} of {} planted faults caught, {} of {} right kernels pass, {} of {} planted "
             "slowdowns seen\n",
             faults.ok, faults.all, right.ok, right.all, slowdowns.ok, slowdowns.all);
}

std::string selftest_text(const std::vector<SelftestRow>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const SelftestRow& row : rows)
    cells.push_back({row.fault, row.device, row.caught ? "yes" : "no", row.by, row.diagnosis});
  return text_rows({"fault", "devices", "caught", "by", "diagnosis"}, cells) + closing(rows);
}

Json selftest_json(const std::vector<SelftestRow>& rows) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json list = Json::array();
  for (const SelftestRow& row : rows) {
    list.push_back({{"fault", row.fault},
                    {"text", text(row.text)},
                    {"devices", row.device},
                    {"ok", row.ok},
                    {"caught", row.caught},
                    {"by", text(row.by)},
                    {"diagnosis", text(row.diagnosis)},
                    {"complaint", text(row.complaint)}});
  }
  return {{"rows", std::move(list)}};
}

// table is what other commands call text.
std::vector<OutputTarget> selftest_outputs(const SelftestOptions& options) {
  return parse_outputs(options.outputs, {"table", "json"});
}

ExitCode run_selftest(const SelftestOptions& options) {
  const std::vector<OutputTarget> targets = selftest_outputs(options);
  std::vector<std::string> notes;
  std::unique_ptr<Backend> device = open_backend(parse_device(options.device), &notes);
  for (const std::string& note : notes) write_stderr(fmt::format("rope-bench: {}\n", note));
  const std::vector<SelftestRow> rows = selftest(std::move(device));
  write_document(
      targets, [&] { return selftest_text(rows); }, [&] { return selftest_json(rows); });
  if (stdout_target(targets) != nullptr && stdout_target(targets)->format == "json")
    write_stderr(closing(rows));
  const bool all = std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.ok; });
  return all ? ExitCode::kGood : ExitCode::kWrong;
}

}  // namespace

Action setup_selftest(Flags& flags) {
  const auto options = std::make_shared<SelftestOptions>();
  add_device_flag(flags, options->device);
  add_output_flag(flags, options->outputs, {"table", "json"});
  return [options](const Invocation&) { return run_selftest(*options); };
}

}  // namespace rope_bench
