// rope.scaling against the catalog of methods.
#include <fmt/format.h>

#include <algorithm>

#include "src/case/axes.h"
#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/case/key_rows.h"
#include "src/case/key_values.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

constexpr std::string_view kPrefix = "rope.scaling.";
constexpr const char* kType = "rope.scaling.type";
constexpr const char* kRopeType = "rope.scaling.rope_type";

bool is_parameter(const std::string& path) {
  return path.starts_with(kPrefix) && path != kType && path != kRopeType;
}

const ScalingParamSpec* find_param(const ScalingMethodSpec& method, std::string_view name) {
  for (const ScalingParamSpec& param : method.params) {
    if (param.name == name) return &param;
  }
  return nullptr;
}

// Why the method does not take this parameter, empty if it does.
std::string why_unknown(const ScalingMethodSpec& method, const std::string& name) {
  if (find_param(method, name)) return "";
  std::vector<std::string> known;
  for (const ScalingParamSpec& param : method.params) known.push_back(param.name);
  if (known.empty()) return fmt::format("scaling {} takes no parameter \"{}\"", method.name, name);
  const std::string near = nearest(name, known);
  return fmt::format("scaling {} has no parameter \"{}\"{}; known: {}", method.name, name,
                     near.empty() ? "" : fmt::format("; nearest: \"{}\"", near),
                     fmt::join(known, ", "));
}

// Why the method does not allow the parameter or its value.
std::optional<Refusal> refusal_of(const ScalingMethodSpec& method, const std::string& name,
                                  const Assign& assign) {
  const std::string unknown = why_unknown(method, name);
  if (!unknown.empty()) return Refusal{assign.value, assign.pointer, unknown};
  return refusal(scaling_key(*find_param(method, name)), *assign.value, assign.pointer);
}

ScalingValue value_of(const ScalingParamSpec& param, const Node& node) {
  if (const Node::List* list = node.list()) {
    std::vector<double> numbers;
    for (const Node& item : *list) numbers.push_back(number_value(item).value_or(0));
    return numbers;
  }
  if (param.kind == ParamKind::kFlag) return std::get<bool>(node.value);
  if (param.kind == ParamKind::kText) return *node.text();
  return number_value(node).value_or(0);
}

std::string name_of_type(const Node& node) { return node.text() ? *node.text() : "none"; }

void check_one_of(const ScalingMethodSpec& method, const Values& values, Problems* problems) {
  if (method.exactly_one_of.empty()) return;
  std::vector<std::string> given, paths;
  for (const std::string& name : method.exactly_one_of) {
    paths.push_back(std::string(kPrefix) + name);
    if (values.assign(paths.back())) given.push_back(name);
  }
  if (given.size() == 1) return;
  paths.insert(paths.begin(), {kType, kRopeType});
  problems->push_back(
      {fmt::format("scaling {} needs exactly one of {}; given: {}", method.name,
                   fmt::join(method.exactly_one_of, ", "),
                   given.empty() ? std::string("none") : fmt::format("{}", fmt::join(given, ", "))),
       paths});
}

// Refuses a value that none of the types takes.
void check_any_type(const KeyTable& table, const Assign& assign,
                    const std::vector<const ScalingMethodSpec*>& types) {
  const std::string name = table[assign.key].path.substr(kPrefix.size());
  std::optional<Refusal> first;
  for (const ScalingMethodSpec* method : types) {
    if (!method) continue;
    std::optional<Refusal> refused = refusal_of(*method, name, assign);
    if (!refused) return;
    if (!first) first = std::move(refused);
  }
  if (first) throw ConfigError(first->message());
}

// Parameters without a type: names the methods that have them.
void require_type(const Settings& settings, ScalingCatalog scalings) {
  for (const Setting& setting : settings) {
    if (!is_parameter(setting.path) || setting.cleared) continue;
    const std::string name = setting.path.substr(kPrefix.size());
    std::vector<std::string> methods;
    for (const ScalingMethodSpec& method : scalings) {
      if (find_param(method, name)) methods.push_back(method.name);
    }
    throw ConfigError(fmt::format("{}: {}: scaling has no \"type\"; methods with \"{}\": {}",
                                  setting.node->place(), setting.pointer, name,
                                  fmt::join(methods, ", ")));
  }
}

// Each object of a list of scalings must be right by itself.
void check_objects(const KeyTable& table, const Setting& setting, ScalingCatalog scalings) {
  for (const std::vector<Assign>& alternative : setting.alternatives) {
    Values values(table);
    for (const Assign& assign : alternative) values.set(assign, false);
    Problems problems;
    std::set<std::string> warnings;
    resolve_scaling(values, scalings, &problems, &warnings);
    if (problems.empty()) continue;
    for (const std::string& path : problems[0].keys) {
      if (const Assign* assign = values.assign(path)) {
        throw ConfigError(Refusal{assign->value, assign->pointer, problems[0].text}.message());
      }
    }
  }
}

}  // namespace

const ScalingMethodSpec* find_method(ScalingCatalog scalings, const std::string& name) {
  for (const ScalingMethodSpec& method : scalings) {
    const auto& aliases = method.aliases;
    if (method.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end()) {
      return &method;
    }
  }
  return nullptr;
}

Scaling resolve_scaling(const Values& values, ScalingCatalog scalings, Problems* problems,
                        std::set<std::string>* warnings) {
  Scaling scaling;
  const Assign* type = values.assign(kType);
  const Assign* rope_type = values.assign(kRopeType);
  const Assign* named = type ? type : rope_type;
  const ScalingMethodSpec* method =
      find_method(scalings, named ? name_of_type(*named->value) : "none");
  if (!method) return scaling;  // a catalog without "none"
  scaling.type = method->name;
  if (type && rope_type) {
    const std::string one = name_of_type(*type->value), other = name_of_type(*rope_type->value);
    if (find_method(scalings, other) != method) {
      problems->push_back(
          {fmt::format("scaling type \"{}\" but rope_type \"{}\"; write one of the two", one,
                       other),
           {kType, kRopeType}});
    } else {
      warnings->insert(fmt::format("{}: {}: scaling has both type and rope_type, both {}",
                                   rope_type->value->place(), rope_type->pointer, other));
    }
  }
  const std::vector<Key>& keys = values.table().keys();
  for (size_t id = 0; id < keys.size(); ++id) {
    const Assign* assign = values.assign(static_cast<int>(id));
    if (!assign || !is_parameter(keys[id].path)) continue;
    const std::string name = keys[id].path.substr(kPrefix.size());
    if (const std::optional<Refusal> refused = refusal_of(*method, name, *assign)) {
      problems->push_back({refused->text, {keys[id].path, kType, kRopeType}});
      continue;
    }
    scaling.params[name] = value_of(*find_param(*method, name), *assign->value);
    const double* factor = std::get_if<double>(&scaling.params[name]);
    if (name == "factor" && factor && *factor < 1) {
      warnings->insert(
          fmt::format("{}: {}: factor {} is below 1: positions are spread, not "
                      "interpolated",
                      assign->value->place(), assign->pointer, *factor));
    }
  }
  check_one_of(*method, values, problems);
  for (const ScalingParamSpec& param : method->params) {
    if (!param.required || scaling.params.count(param.name) != 0) continue;
    const std::string path = std::string(kPrefix) + param.name;
    if (values.assign(path)) continue;  // there, but refused above
    problems->push_back({fmt::format("scaling {} needs \"{}\": {}", method->name, param.name,
                                     allowed_text(scaling_key(param))),
                         {kType, kRopeType, path}});
  }
  return scaling;
}

void check_scaling_lists(const RopeCase& c, ScalingCatalog scalings, Problems* problems) {
  const ScalingMethodSpec* method = find_method(scalings, c.rope.scaling.type);
  if (!method) return;
  for (const auto& [name, value] : c.rope.scaling.params) {
    const auto* list = std::get_if<std::vector<double>>(&value);
    const ScalingParamSpec* param = find_param(*method, name);
    if (!list || !param || param->kind != ParamKind::kList) continue;
    const size_t pairs = static_cast<size_t>(scaled_pairs(c));
    if (list->size() == pairs) continue;
    const char* of = c.rope.axes.kind == "vision_2d" ? "a half of vision_2d" : "rotary_dim/2";
    problems->push_back(
        {fmt::format("{} has {} numbers, but {} is {}", name, list->size(), of, pairs),
         {std::string(kPrefix) + name, kType, "rope.rotary_dim", "rope.partial_rotary_factor",
          "rope.pairing", "model.head_dim"}});
  }
}

void check_scaling_values(const KeyTable& table, const Settings& settings,
                          ScalingCatalog scalings) {
  std::vector<const ScalingMethodSpec*> types;
  for (const Setting& setting : settings) {
    if (setting.path != kType && setting.path != kRopeType) continue;
    for (const std::vector<Assign>& alternative : setting.alternatives) {
      const std::string type = alternative.empty() ? "none" : name_of_type(*alternative[0].value);
      types.push_back(find_method(scalings, type));
    }
  }
  if (types.empty()) {
    require_type(settings, scalings);
    types.push_back(find_method(scalings, "none"));
  }
  for (const Setting& setting : settings) {
    if (setting.path == "rope.scaling") check_objects(table, setting, scalings);
    if (!is_parameter(setting.path)) continue;
    for (const std::vector<Assign>& alternative : setting.alternatives) {
      for (const Assign& assign : alternative) check_any_type(table, assign, types);
    }
  }
}

}  // namespace rope_bench
