// The key table as a JSON Schema.
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/case/config.h"
#include "src/case/keys.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

Json integer_schema(const Key& key) {
  Json json = {{"type", "integer"}, {"minimum", key.integer_min}, {"maximum", key.integer_max}};
  if (key.even) json["multipleOf"] = 2;
  return json;
}

Json number_schema(const Key& key) {
  Json json = {{"type", "number"}};
  if (std::isfinite(key.min)) json[key.min_exclusive ? "exclusiveMinimum" : "minimum"] = key.min;
  if (std::isfinite(key.max)) json["maximum"] = key.max;
  return json;
}

Json list_of(Json item, int min_items) {
  return {{"type", "array"}, {"items", std::move(item)}, {"minItems", min_items}};
}

// One value of the key, without axes.
Json value_schema(const Key& key) {
  switch (key.kind) {
    case KeyKind::kInteger:
      return integer_schema(key);
    case KeyKind::kSeed:
      return {
          {"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<uint64_t>::max()}};
    case KeyKind::kNumber:
      return number_schema(key);
    case KeyKind::kFlag:
      return {{"type", "boolean"}};
    case KeyKind::kWord:
      return {{"enum", key.words}};
    case KeyKind::kText:
      return {{"type", "string"}, {"minLength", 1}, {"maxLength", 1000}};
    case KeyKind::kIntegerList:
      return list_of(integer_schema(key), 1);
    case KeyKind::kNumberList:
      return list_of(number_schema(key), 1);
    case KeyKind::kNumberOrList:
      return {{"anyOf", {number_schema(key), list_of(list_of(number_schema(key), 1), 1)}}};
    case KeyKind::kPositions:
      return {{"anyOf", {Json{{"enum", key.words}}, list_of({{"type", "integer"}}, 0)}}};
    case KeyKind::kIntegerLists:
      return list_of(list_of({{"type", "integer"}}, 0), 1);
  }
  return Json::object();
}

// An item of an axis: one value, or null for the default.
Json axis_item(const Key& key) {
  Json item = value_schema(key);
  if (key.kind == KeyKind::kNumberOrList) item = number_schema(key);
  return {{"anyOf", {item, Json{{"type", "null"}}}}};
}

Json key_schema(const Key& key) {
  Json choices = Json::array({value_schema(key)});
  if (key.may_be_axis) choices.push_back(list_of(axis_item(key), 1));
  choices.push_back({{"type", "null"}});
  Json json = {{"description", key.doc}, {"anyOf", choices}};
  if (!key.default_text.empty()) {
    json["description"] = key.doc + " (default " + key.default_text + ")";
  }
  return json;
}

std::string ref_to(const std::string& path) { return "#/$defs/" + path; }

// Properties of a group, each a reference: the same keys are those of the config and of `cases`.
Json object_schema(const KeyTable& table, const std::string& group) {
  Json properties = Json::object();
  for (const std::string& name : table.names_in(group)) {
    properties[name] = {{"$ref", ref_to(group.empty() ? name : group + "." + name)}};
  }
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

Json group_schema(const KeyTable& table, const KeyGroup& group) {
  const Json object = object_schema(table, group.path);
  Json choices = Json::array({object, Json{{"type", "null"}}});
  if (group.may_be_axis) {
    choices.push_back(list_of({{"anyOf", {object, Json{{"type", "null"}}}}}, 1));
  }
  return {{"description", group.doc}, {"anyOf", choices}};
}

}  // namespace

std::string config_schema(ScalingCatalog scalings) {
  const KeyTable table(scalings);
  const Json entry = object_schema(table, "");
  Json root = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "rope-bench config"},
      {"description",
       "Any scalar may be an array: it is then an axis, and axes multiply. null means absent. What "
       "one key alone cannot say (rotary_dim against head_dim ...) is checked by rope-bench."}};
  root.update(entry);
  root["properties"]["cases"] = {
      {"description", "suites of unlike cases: each object is laid over the keys above"},
      {"anyOf", {list_of({{"$ref", ref_to("case")}}, 1), Json{{"type", "null"}}}}};
  Json& defs = root["$defs"];
  defs["case"] = entry;
  for (const Key& key : table.keys()) {
    if (!key.hidden) defs[key.path] = key_schema(key);
  }
  for (const KeyGroup& group : table.groups()) defs[group.path] = group_schema(table, group);
  return root.dump(2) + "\n";
}

}  // namespace rope_bench
