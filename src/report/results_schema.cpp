#include "nlohmann/json.hpp"
#include "src/report/columns.h"
#include "src/report/details.h"
#include "src/report/format.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

Json type_schema(const Column& column) {
  switch (column.type) {
    case CellType::kBool:
      return {{"type", "boolean"}};
    case CellType::kInteger:
      return {{"type", "integer"}};
    case CellType::kNumber:
      return {{"$ref", "#/$defs/number"}};
    case CellType::kTexts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case CellType::kText:
      break;
  }
  if (column.choices) return {{"enum", column.choices()}};
  return {{"type", "string"}};
}

Json or_null(Json schema) {
  return {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
}

// Members in the order of the table; all of them are always there.
Json object_schema(Json properties) {
  Json required = Json::array();
  for (const auto& [key, schema] : properties.items()) required.push_back(key);
  return {
      {"type", "object"}, {"required", std::move(required)}, {"properties", std::move(properties)}};
}

Json row_schema() {
  Json properties = Json::object();
  Json groups = Json::object();
  for (const Column& column : columns()) {
    const ColumnPath path = path_of(column);
    // A member of a group is there whenever its group is.
    const bool nullable = path.group.empty() ? column.nullable : column.optional_member;
    Json schema = nullable ? or_null(type_schema(column)) : type_schema(column);
    schema["description"] = column.summary;
    if (path.group.empty()) {
      properties[path.leaf] = std::move(schema);
    } else {
      properties[path.group] = nullptr;  // keeps its place
      groups[path.group][path.leaf] = std::move(schema);
    }
  }
  for (const auto& [group, members] : groups.items()) {
    properties[group] = or_null(object_schema(members));
  }
  properties.update(details_schema());
  return object_schema(std::move(properties));
}

// The header of a CSV file, and where the value of each of its fields is in a row of JSON: what
// makes CSV of JSON lines. No keyword of JSON Schema, which allows others.
Json csv_columns() {
  static constexpr const char* kTypes[] = {"boolean", "integer", "number", "string", "strings"};
  Json list = Json::array();
  for (const Column& column : columns()) {
    const ColumnPath path = path_of(column);
    Json keys = path.group.empty() ? Json{path.leaf} : Json{path.group, path.leaf};
    list.push_back({{"name", csv_name(column)},
                    {"path", std::move(keys)},
                    {"type", kTypes[static_cast<size_t>(column.type)]}});
  }
  return list;
}

Json text() { return {{"type", "string"}}; }
Json optional_text() { return or_null(text()); }
// A row beside the row of the same case in variant `unfused`: what the fused one saves.
Json fusion_schema() {
  const Json number = {{"$ref", "#/$defs/number"}};
  return object_schema({{"name", text()},
                        {"unfused_name", text()},
                        {"cache", {{"enum", {"cold", "warm"}}}},
                        {"saved_us", number},
                        {"saved_time_percent", number},
                        {"saved_bytes", {{"type", "integer"}}},
                        {"saved_bytes_percent", number}});
}
Json optional_number() { return or_null({{"$ref", "#/$defs/number"}}); }

}  // namespace

std::string results_schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "rope-bench results"},
                 {"description", "What `rope-bench run -o json` writes. Absent values are null."}};
  Json body = object_schema(
      {{"schema_version", {{"const", kResultsSchemaVersion}}},
       {"tool", object_schema({{"name", text()},
                               {"version", text()},
                               {"commit", optional_text()},
                               {"dirty", {{"type", "boolean"}}},
                               {"compiler", text()},
                               {"cuda_toolkit", optional_text()}})},
       {"env", object_schema({{"device", text()},
                              {"model", text()},
                              {"l2_bytes", {{"type", "integer"}}},
                              {"memory_bytes", {{"type", "integer"}}},
                              {"details", {{"type", "object"}, {"additionalProperties", text()}}},
                              {"started_utc", text()}})},
       {"peaks", object_schema({{"theoretical_gb_s", optional_number()},
                                {"measured_gb_s", optional_number()}})},
       {"floor", object_schema({{"time_us", optional_number()},
                                {"time_isolated_us", optional_number()},
                                {"time_host_launch_us", optional_number()}})},
       {"limit_family_version", {{"type", "integer"}}},
       {"config", Json::object()},
       {"results", {{"type", "array"}, {"items", {{"$ref", "#/$defs/result"}}}}},
       {"fusion", {{"type", "array"}, {"items", {{"$ref", "#/$defs/fusion"}}}}},
       {"command_line", {{"type", "array"}, {"items", text()}}},
       {"notes", {{"type", "array"}, {"items", text()}}},
       {"interrupted", {{"type", "boolean"}}}});
  schema.update(body);
  schema["$defs"]["number"] = {
      {"description", "JSON has no NaN or infinity: they are spelled as strings"},
      {"anyOf", Json::array({{{"type", "number"}}, {{"enum", {"NaN", "Infinity", "-Infinity"}}}})}};
  schema["$defs"]["result"] = row_schema();
  schema["$defs"]["fusion"] = fusion_schema();
  schema["csv_columns"] = csv_columns();
  return dump(schema, 2) + "\n";
}

}  // namespace rope_bench
