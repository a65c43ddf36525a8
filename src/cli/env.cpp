#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/boards.h"
#include "src/cli/build_info.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/measure/runner.h"
#include "src/report/numbers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

struct EnvOptions {
  std::string device;
  std::vector<std::string> outputs;
};

struct Environment {
  ToolInfo tool;
  DeviceInfo device;
  std::vector<DeviceListing> devices;
  std::vector<std::string> notes;
};

std::string env_text(const Environment& env) {
  std::vector<std::vector<std::string>> rows = {
      {"rope-bench", env.tool.version},
      {"commit",
       (env.tool.commit.empty() ? "none" : env.tool.commit) + (env.tool.dirty ? " (dirty)" : "")},
      {"compiler", env.tool.compiler},
      {"CUDA toolkit", env.tool.cuda_toolkit.empty() ? "none" : env.tool.cuda_toolkit},
      {"device", env.device.device},
      {"model", env.device.model},
      {"last-level cache", human_bytes(env.device.l2_bytes)},
      {"memory", human_bytes(env.device.memory_bytes)}};
  for (const auto& [key, value] : env.device.details) rows.push_back({key, value});
  const std::optional<double>& peak = env.device.theoretical_peak_gb_s;
  rows.push_back({"theoretical peak", peak ? fmt::format("{} GB/s", *peak) : "unknown"});
  for (const DeviceListing& device : env.devices) {
    rows.push_back({"offers " + device.device,
                    device.model + (device.why_not.empty() ? "" : " (" + device.why_not + ")")});
  }
  std::string text = text_rows({"key", "value"}, rows);
  for (const std::string& note : env.notes) text += note + "\n";
  return text;
}

Json environment_json(const Environment& env) {
  Json devices = Json::array();
  for (const DeviceListing& device : env.devices) {
    devices.push_back({{"name", device.device},
                       {"model", device.model},
                       {"why_not", device.why_not.empty() ? Json() : Json(device.why_not)}});
  }
  const auto& peak = env.device.theoretical_peak_gb_s;
  return {{"tool", tool_json(env.tool)},
          {"env", env_json(env.device)},
          {"peaks", {{"theoretical_gb_s", peak ? Json(*peak) : Json()}}},
          {"devices", std::move(devices)},
          {"notes", env.notes}};
}

ExitCode run_env(const EnvOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  const DeviceChoice choice = parse_device(options.device);
  Environment env;
  env.tool = build_info();
  env.device = Runner::open(choice, &env.notes)->device_info();
  env.devices = list_devices();
  if (const std::string note = peak_note(env.device); !note.empty()) env.notes.push_back(note);
  write_document(
      targets, [&] { return env_text(env); }, [&] { return environment_json(env); });
  return ExitCode::kGood;
}

}  // namespace

Action setup_env(Flags& flags) {
  const auto options = std::make_shared<EnvOptions>();
  options->device = "auto";
  add_device_flag(flags, options->device);
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_env(*options); };
}

}  // namespace rope_bench
