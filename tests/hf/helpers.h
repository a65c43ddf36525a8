// Models' configs as text and as files, read with the scaling methods of the tool.
#ifndef ROPE_BENCH_TESTS_HF_HELPERS_H_
#define ROPE_BENCH_TESTS_HF_HELPERS_H_

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/case/errors.h"
#include "src/hf/hf.h"
#include "src/math/scaling.h"
#include "src/math/scaling_check.h"

namespace rope_bench::testing {

inline Overrides set(std::vector<std::string> values) {
  Overrides overrides;
  overrides.set = std::move(values);
  return overrides;
}

inline std::string file_text(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/hf/" + name + ".json", std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline LoadedConfig read(const std::string& text, const Overrides& overrides = set({"tokens=1"}),
                         const std::string& part = "") {
  return parse_hf({{"t.json", text, part, "t"}}, scaling_catalog(), overrides, ScalingCheck());
}

inline LoadedConfig read_file(const std::string& name,
                              const Overrides& overrides = set({"tokens=1"})) {
  return read(file_text(name), overrides);
}

// A file with its members changed: null takes nothing away, it is written as null.
inline std::string changed(const std::string& name, const nlohmann::ordered_json& changes,
                           const std::vector<std::string>& removed = {}) {
  auto json = nlohmann::ordered_json::parse(file_text(name));
  for (const auto& [key, value] : changes.items()) json[key] = value;
  for (const std::string& key : removed) json.erase(key);
  return json.dump();
}

inline RopeCase only_case(const LoadedConfig& config) {
  EXPECT_EQ(config.cases.size(), 1u);
  return config.cases.at(0);
}

inline std::string error_of(const std::string& text, const Overrides& overrides = set({"tokens=1"}),
                            const std::string& part = "") {
  try {
    read(text, overrides, part);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_error(const std::string& text, const std::vector<std::string>& parts,
                         const Overrides& overrides = set({"tokens=1"}),
                         const std::string& part = "") {
  SCOPED_TRACE(text);
  const std::string message = error_of(text, overrides, part);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const std::string& word : parts) {
    EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
  }
}

// A note of this level and pointer whose text holds `part`.
inline bool has_note(const LoadedConfig& config, bool warning, const std::string& pointer,
                     const std::string& part) {
  for (const ConfigNote& note : config.notes) {
    if (note.warning == warning && note.pointer == pointer &&
        note.text.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

inline std::string notes_of(const LoadedConfig& config) {
  std::string text;
  for (const ConfigNote& note : config.notes) {
    text += (note.warning ? "warning " : "info ") + note.pointer + ": " + note.text + "\n";
  }
  return text;
}

#define EXPECT_NOTE(config, warning, pointer, part) \
  EXPECT_TRUE(has_note(config, warning, pointer, part)) << part << "\nin\n" << notes_of(config)

// A LLaMA of 8 heads of 64 with `more` members behind.
inline std::string llama(const std::string& more) {
  return R"({"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8)" +
         (more.empty() ? std::string() : ", " + more) + "}";
}

inline double param(const RopeCase& c, const std::string& name) {
  const auto found = c.rope.scaling.params.find(name);
  EXPECT_NE(found, c.rope.scaling.params.end()) << name;
  return found == c.rope.scaling.params.end() ? -1 : std::get<double>(found->second);
}

inline double attention_factor(const RopeCase& c) { return frequencies_of(c).attention_factor; }

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_HF_HELPERS_H_
