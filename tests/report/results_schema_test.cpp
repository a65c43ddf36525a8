#include <algorithm>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "src/report/format.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

using Json = nlohmann::json;

// Checks the part of JSON Schema that results_schema() uses.
bool matches(const Json& root, const Json& schema, const Json& value) {
  if (schema.contains("$ref")) {
    const std::string path = schema["$ref"].get<std::string>().substr(1);
    return matches(root, root.at(Json::json_pointer(path)), value);
  }
  if (schema.contains("const") && value != schema["const"]) return false;
  if (schema.contains("enum")) {
    return std::count(schema["enum"].begin(), schema["enum"].end(), value) > 0;
  }
  if (schema.contains("anyOf")) {
    return std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(),
                       [&](const Json& option) { return matches(root, option, value); });
  }
  const std::string type = schema.value("type", "");
  if (type == "object") {
    if (!value.is_object()) return false;
    for (const Json& key : schema.value("required", Json::array())) {
      if (!value.contains(key.get<std::string>())) return false;
    }
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, member] : properties.items()) {
      if (value.contains(key) && !matches(root, member, value[key])) {
        ADD_FAILURE() << key << " = " << value[key] << " is not " << member;
        return false;
      }
    }
    return true;
  }
  if (type == "array") {
    return value.is_array() && std::all_of(value.begin(), value.end(), [&](const Json& item) {
             return matches(root, schema["items"], item);
           });
  }
  return type.empty() || (type == "string" && value.is_string()) ||
         (type == "integer" && value.is_number_integer()) ||
         (type == "number" && value.is_number()) || (type == "boolean" && value.is_boolean()) ||
         (type == "null" && value.is_null());
}

TEST(ResultsSchema, DescribesWhatIsWritten) {
  const Json schema = Json::parse(results_schema());
  EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  const Json document = Json::parse(format_named("json").write(sample_report(), sample_context()));
  EXPECT_TRUE(matches(schema, schema, document));
  // Every column is described, every member that is written is known.
  const Json& properties = schema.at("$defs").at("result").at("properties");
  for (const auto& [key, value] : document.at("results")[0].items()) {
    EXPECT_TRUE(properties.contains(key)) << key;
  }
  EXPECT_EQ(properties.size(), document.at("results")[0].size());
}

// What sweep.py makes CSV of JSON lines by: the header, and a value for every field.
TEST(ResultsSchema, LeadsFromJsonToCsv) {
  const Json list = Json::parse(results_schema()).at("csv_columns");
  const std::string csv = format_named("csv").write(sample_report(), sample_context());
  std::string header;
  for (const Json& column : list) {
    header += (header.empty() ? "" : ",") + column.at("name").get<std::string>();
  }
  EXPECT_EQ(header, csv.substr(0, csv.find("\r\n")));
  const Json row = Json::parse(format_named("jsonl").write_row(passed_row(), sample_report()));
  for (const Json& column : list) {
    const Json* value = &row;
    for (const Json& key : column.at("path")) {
      ASSERT_TRUE(value->is_null() || value->contains(key.get<std::string>())) << column;
      if (!value->is_null()) value = &value->at(key.get<std::string>());
    }
    if (value->is_null()) continue;
    EXPECT_EQ(value->is_number(), column["type"] == "number" || column["type"] == "integer")
        << column;
    EXPECT_EQ(value->is_array(), column["type"] == "strings") << column;
  }
}

}  // namespace
}  // namespace rope_bench
