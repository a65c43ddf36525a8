// Configs as text, and a catalog of scaling methods that depends on nothing but src/case.
#ifndef ROPE_BENCH_TESTS_CASE_HELPERS_H_
#define ROPE_BENCH_TESTS_CASE_HELPERS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/case/config.h"
#include "src/case/errors.h"

namespace rope_bench::testing {

ScalingCatalog catalog();

inline LoadedConfig parse(const std::string& text, const Overrides& overrides = {}) {
  return parse_config(text, "t.json", catalog(), overrides);
}

// A config of 8 query heads on 2 key heads of 64, 4 tokens, with `more` members behind.
inline std::string config_with(const std::string& more) {
  return R"({"model": {"num_heads": 8, "num_kv_heads": 2, "head_dim": 64}, "tokens": 4)" +
         (more.empty() ? std::string() : ", " + more) + "}";
}

// A config with this `model` and 4 tokens.
inline std::string config_of_model(const std::string& model) {
  return R"({"model": {)" + model + R"(}, "tokens": 4})";
}

// The one case of a config without axes.
inline RopeCase only_case(const std::string& text, const Overrides& overrides = {}) {
  const LoadedConfig config = parse(text, overrides);
  EXPECT_EQ(config.cases.size(), 1u);
  return config.cases.at(0);
}

// What ConfigError says, or "no error".
inline std::string error_of(const std::string& text, const Overrides& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

// One line that contains all parts.
inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
  }
}

inline void expect_error(const std::string& text, const std::vector<std::string>& parts,
                         const Overrides& overrides = {}) {
  SCOPED_TRACE(text);
  expect_parts(error_of(text, overrides), parts);
}

inline std::vector<std::string> names_of(const LoadedConfig& config) {
  std::vector<std::string> names;
  for (const RopeCase& c : config.cases) names.push_back(c.name);
  return names;
}

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_CASE_HELPERS_H_
