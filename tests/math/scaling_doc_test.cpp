// docs/scaling.md against the registry: a row for every method, and one worked number each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "src/case/config.h"
#include "src/math/scaling.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> doc_lines() {
  std::ifstream file(SCALING_DOC);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string default_text(const ScalingParamSpec& param) {
  if (!param.default_value) return "";
  if (param.kind == ParamKind::kFlag) return *param.default_value != 0 ? " (true)" : " (false)";
  return fmt::format(" ({})", *param.default_value);
}

std::string doc_row(const ScalingMethodSpec& method) {
  std::string names = fmt::format("`{}`", method.name);
  for (const std::string& alias : method.aliases) names += fmt::format(", `{}`", alias);
  std::string params;
  for (const ScalingParamSpec& param : method.params) {
    params += fmt::format("{}{}`{}`{}{}", params.empty() ? "" : ", ", param.required ? "**" : "",
                          param.name, param.required ? "**" : "", default_text(param));
  }
  return fmt::format("| {} | {} | {} | {} |", names, params.empty() ? "-" : params, method.summary,
                     method.source);
}

TEST(ScalingDoc, HasARowOfEveryMethod) {
  const std::vector<std::string> lines = doc_lines();
  for (const ScalingMethodSpec& method : scaling_catalog()) {
    const std::string row = doc_row(method);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), row), 1) << "docs/scaling.md lacks\n" << row;
  }
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) {
    const size_t first = cell.find_first_not_of(" `");
    const size_t last = cell.find_last_not_of(" `");
    result.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return result;
}

// {"head_dim", "max_position", keys of rope ...} as a case.
RopeCase case_of(const std::string& text) {
  Json rope = Json::parse(text);
  Json model = {{"num_heads", 1}};
  for (const char* key : {"head_dim", "max_position"}) {
    if (!rope.contains(key)) continue;
    model[key] = rope[key];
    rope.erase(key);
  }
  const Json config = {{"model", model}, {"tokens", 1}, {"rope", rope}};
  return parse_config(config.dump(), "scaling.md", scaling_catalog(), {}).cases.at(0);
}

double quantity_of(const Frequencies& f, const std::string& quantity) {
  if (quantity == "attention_factor") return f.attention_factor;
  if (quantity.starts_with("inv_freq[")) {
    return static_cast<double>(f.exact.at(std::stoul(quantity.substr(9))));
  }
  for (const ScalingDetail& detail : f.details) {
    if (detail.name == quantity) return std::get<double>(detail.value);
  }
  ADD_FAILURE() << "no quantity " << quantity;
  return NAN;
}

TEST(ScalingDoc, HasAWorkedNumberOfEveryMethod) {
  std::set<std::string> worked;
  for (const std::string& line : doc_lines()) {
    const std::vector<std::string> row = cells(line);
    if (row.size() != 6 || !row[2].starts_with('{')) continue;
    worked.insert(row[1]);
    const RopeCase c = case_of(row[2]);
    EXPECT_EQ(c.rope.scaling.type, row[1]);
    const double want = std::stod(row[4]);
    EXPECT_NEAR(quantity_of(frequencies_of(c), row[3]), want, 2e-9 * std::abs(want)) << line;
  }
  for (const ScalingMethodSpec& method : scaling_catalog()) {
    EXPECT_TRUE(worked.contains(method.name)) << method.name;
  }
}

}  // namespace
}  // namespace rope_bench
