#include <algorithm>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/config.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/cli/variants.h"
#include "src/math/scaling.h"
#include "src/measure/runner.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

// Every kind is a JSON array of objects of the same keys; the text is made from it.
Json ops() {
  static constexpr const char* kSummaries[] = {"rotate Q and K",
                                               "packed QKV to Q, K, V, rotating Q and K",
                                               "RMSNorm of Q and K, split, rotate",
                                               "sequences of unequal length packed without padding",
                                               "gradient of rope: rotation by the negative angle",
                                               "gradient of split_rope"};
  Json list = Json::array();
  for (size_t i = 0; i < std::size(kSummaries); ++i) {
    const Op op = static_cast<Op>(i);
    std::vector<std::string> names;
    for (const RopeVariant* row : variants()) {
      if (row->op != static_cast<int32_t>(op)) continue;
      if (!std::count(names.begin(), names.end(), row->name)) names.emplace_back(row->name);
    }
    list.push_back({{"name", name(op)}, {"summary", kSummaries[i]}, {"variants", names}});
  }
  return list;
}

Json variant_list() {
  Json list = Json::array();
  for (const RopeVariant* row : variants()) {
    list.push_back({{"name", row->name},
                    {"op", name(static_cast<Op>(row->op))},
                    {"device", row->device == ROPE_DEVICE_CUDA ? "cuda" : "cpu"},
                    {"summary", row->summary},
                    {"source", row->source}});
  }
  return list;
}

Json pairings() {
  Json list = Json::array();
  for (const PairingInfo& row : kPairings) {
    list.push_back({{"name", row.name}, {"summary", row.summary}});
  }
  return list;
}

Json scalings() {
  Json list = Json::array();
  for (const ScalingMethodSpec& row : scaling_catalog()) {
    Json params = Json::array();
    for (const ScalingParamSpec& param : row.params) params.push_back(param.name);
    list.push_back({{"name", row.name},
                    {"aliases", row.aliases},
                    {"params", std::move(params)},
                    {"implemented", row.implemented},
                    {"summary", row.summary},
                    {"source", row.source}});
  }
  return list;
}

Json dtypes() {
  Json list = Json::array();
  for (const DtypeInfo& row : kDtypes) list.push_back({{"name", row.name}, {"bytes", row.size}});
  return list;
}

Json configs() {
  Json list = Json::array();
  for (const std::string& name : shipped_configs()) {
    list.push_back({{"name", name}, {"file", find_config(name)}});
  }
  return list;
}

Json format_list() {
  Json list = Json::array();
  for (const Format& row : formats()) {
    list.push_back({{"name", row.name}, {"summary", row.summary}});
  }
  return list;
}

Json devices() {
  Json list = Json::array();
  for (const DeviceListing& row : list_devices()) {
    list.push_back({{"name", row.device},
                    {"model", row.model},
                    {"usable", row.why_not.empty()},
                    {"why_not", row.why_not.empty() ? Json(nullptr) : Json(row.why_not)}});
  }
  return list;
}

struct Kind {
  const char* name;
  Json (*list)();
};
constexpr Kind kKinds[] = {{"ops", ops},
                           {"variants", variant_list},
                           {"pairings", pairings},
                           {"scalings", scalings},
                           {"dtypes", dtypes},
                           {"configs", configs},
                           {"formats", format_list},
                           {"devices", devices}};

std::string word(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump();
  std::string words;
  for (const Json& item : value) words += (words.empty() ? "" : ", ") + word(item);
  return words.empty() ? "-" : words;
}

// Keys that would make the text too wide to read; JSON has them.
bool in_text(const std::string& key) { return key != "params" && key != "source"; }

std::string list_text(const Json& list) {
  if (list.empty()) return "";
  std::vector<std::string> heading;
  for (const auto& [key, value] : list.front().items()) {
    if (in_text(key)) heading.push_back(key);
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& item : list) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const auto& [key, value] : item.items()) {
      if (in_text(key)) row.push_back(word(value));
    }
  }
  return text_rows(heading, rows);
}

const Kind& kind_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  const std::string near = nearest(name, names);
  throw ConfigError(fmt::format("list{}{}; kinds: {}{}",
                                name.empty() ? " needs a kind" : ": no kind ",
                                name.empty() ? "" : "\"" + name + "\"", fmt::join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

struct ListOptions {
  std::string kind;
  std::vector<std::string> outputs;
};

ExitCode run_list(const ListOptions& options) {
  const Kind& kind = kind_named(options.kind);
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  const Json list = kind.list();
  write_document(
      targets, [&] { return list_text(list); },
      [&] {
        return Json{{kind.name, list}};
      });
  return ExitCode::kGood;
}

}  // namespace

Action setup_list(Flags& flags) {
  const auto options = std::make_shared<ListOptions>();
  flags.word("KIND", options->kind,
             "ops, variants, pairings, scalings, dtypes, configs, formats or devices");
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_list(*options); };
}

}  // namespace rope_bench
