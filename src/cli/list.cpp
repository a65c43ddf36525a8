#include <algorithm>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/config.h"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/cli/variants.h"
#include "src/hf/families.h"
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

// "yes", or what of it there is: some methods need an operand that no kernel reads.
std::string runs(const ScalingMethodSpec& method) {
  RopeCase c;
  c.rope.scaling.type = method.name;
  if (unsupported_scaling(c).empty()) return "yes";
  return unknown_scaling(c).empty() ? "table only" : "no";
}

Json scalings() {
  Json list = Json::array();
  for (const ScalingMethodSpec& row : scaling_catalog()) {
    Json params = Json::array();
    for (const ScalingParamSpec& param : row.params) {
      const auto& value = param.default_value;
      params.push_back({{"name", param.name},
                        {"required", param.required},
                        {"default", value ? number_json(*value) : Json()},
                        {"choices", param.choices},
                        {"summary", param.summary}});
    }
    list.push_back({{"name", row.name},
                    {"aliases", row.aliases},
                    {"runs", runs(row)},
                    {"params", std::move(params)},
                    {"exactly_one_of", row.exactly_one_of},
                    {"summary", row.summary},
                    {"source", row.source}});
  }
  return list;
}

// "factor (required), beta_fast (32), truncate (true), attention_factor".
std::string params_text(const ScalingMethodSpec& method) {
  std::vector<std::string> words;
  for (const ScalingParamSpec& param : method.params) {
    std::string value;
    if (param.required) {
      value = " (required)";
    } else if (param.default_value && param.kind == ParamKind::kFlag) {
      value = *param.default_value != 0 ? " (true)" : " (false)";
    } else if (param.default_value) {
      value = fmt::format(" ({})", *param.default_value);
    } else if (!param.choices.empty()) {
      value = fmt::format(" ({})", fmt::join(param.choices, "|"));
    }
    words.push_back(param.name + value);
  }
  std::string text = words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
  if (!method.exactly_one_of.empty()) {
    text += fmt::format("; exactly one of {}", fmt::join(method.exactly_one_of, ", "));
  }
  return text;
}

// What stands below the table of methods.
std::string scalings_text() {
  // Not aligned as a table: the longest list is wider than most terminals.
  std::string text = "\nparameters (default or choices):\n";
  for (const ScalingMethodSpec& row : scaling_catalog()) {
    text += fmt::format("{:<14}{}\n", row.name, params_text(row));
  }
  return text +
         "\nr rotary_dim, d head_dim, i a pair from 0 to r/2 - 1, theta rope.theta, inv the "
         "inv_freq "
         "of none;\n"
         "L current length (rope.seq_len), M trained length (model.max_position, or "
         "original_max_position_embeddings);\n"
         "s of llama3: from 0 to 1 between the wavelengths original/low_freq_factor and "
         "original/high_freq_factor;\n"
         "s of longrope: the factor; ramp: 0 to 1 over the pairs between beta_fast and beta_slow "
         "turns in the trained\nlength; list: short_factor or long_factor. "
         "What a parameter means: -o json.\n";
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

// What --hf knows of each model_type: what holds where a file says nothing.
Json family_list() {
  Json list = Json::array();
  for (const Family& row : families()) {
    const bool rotates = !row.no_rope && !row.refusal;
    const Json share = row.rotary_dim > 0
                           ? Json(fmt::format("{} dims", row.rotary_dim))
                           : Json(row.mla_nope > 0 ? "MLA" : fmt::format("{}", row.partial));
    const double theta = row.defaults.theta;
    list.push_back({{"name", row.type},
                    {"pairing", rotates ? Json(info(row.pairing).name) : Json()},
                    {"rotated", rotates ? share : Json()},
                    {"theta", rotates && theta > 0 ? number_json(theta) : Json()},
                    {"qk_norm", rotates ? Json(norm_text(row.norm)) : Json()},
                    {"refused", rotates ? Json() : Json(row.no_rope ? row.no_rope : row.refusal)}});
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
  std::string (*more_text)() = nullptr;  // below the table
};
constexpr Kind kKinds[] = {{"ops", ops},
                           {"variants", variant_list},
                           {"pairings", pairings},
                           {"scalings", scalings, scalings_text},
                           {"dtypes", dtypes},
                           {"configs", configs},
                           {"families", family_list},
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
bool in_text(const std::string& key) {
  return key != "params" && key != "exactly_one_of" && key != "source";
}

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
      targets, [&] { return list_text(list) + (kind.more_text ? kind.more_text() : ""); },
      [&] {
        return Json{{kind.name, list}};
      });
  return ExitCode::kGood;
}

}  // namespace

Action setup_list(Flags& flags) {
  const auto options = std::make_shared<ListOptions>();
  flags.word("KIND", options->kind,
             "ops, variants, pairings, scalings, dtypes, configs, families, formats or devices");
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_list(*options); };
}

}  // namespace rope_bench
