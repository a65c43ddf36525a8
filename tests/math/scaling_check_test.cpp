// What a config says of parameters that make no sense: one line, file, pointer, value, what is
// allowed; or a skipped row where an axis is to blame.
#include "src/math/scaling_check.h"

#include <gtest/gtest.h>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/math/scaling.h"

namespace rope_bench {
namespace {

LoadedConfig load(const std::string& rope, const std::string& tokens = "1",
                  const std::string& model = "") {
  const std::string text = R"({"model": {"num_heads": 1, "head_dim": 16)" + model +
                           "}, \"tokens\": " + tokens + ",\n\"rope\": " + rope + "}";
  return parse_config(text, "t.json", scaling_catalog(), {}, ScalingCheck());
}

std::string error_of(const std::string& rope, const std::string& model = "") {
  try {
    load(rope, "1", model);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string numbers(int count) {
  std::string list = "[1";
  for (int i = 1; i < count; ++i) list += ", 2";
  return list + "]";
}

struct Refused {
  std::string rope;
  std::vector<std::string> parts;
  std::string model = {};
};

TEST(ScalingCheck, OneLineNamesFilePointerValueAndWhatIsAllowed) {
  const std::string trained = R"(, "original_max_position_embeddings": 64)";
  const Refused rows[] = {
      // Values that are wrong by themselves.
      {R"({"scaling": {"type": "linear", "factor": 0}})", {"/rope/scaling/factor: 0", "above 0"}},
      {R"({"scaling": {"type": "linear", "factor": -1}})", {"/rope/scaling/factor: -1", "above 0"}},
      {R"({"scaling": {"type": "linear", "factor": [[2, 0]]}})", {"/rope/scaling/factor", "0"}},
      {R"({"scaling": {"type": "yarn", "factor": 0.5)" + trained + "}}",
       {"/rope/scaling/factor: 0.5", "at least 1"}},
      {R"({"scaling": {"type": "ntk", "alpha": 0.5}})", {"/rope/scaling/alpha: 0.5", "at least 1"}},
      {R"({"scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 0}})",
       {"/rope/scaling/low_freq_factor: 0", "above 0"}},
      {R"({"scaling": {"type": "yarn", "factor": 4, "beta_fast": 0)" + trained + "}}",
       {"/rope/scaling/beta_fast: 0", "above 0"}},
      {R"({"scaling": {"type": "custom", "inv_freq": [1, "2"]}})", {"/rope/scaling/inv_freq"}},
      // Missing ones.
      {R"({"scaling": {"type": "linear"}})", {"/rope/scaling", "needs \"factor\""}},
      {R"({"scaling": {"type": "dynamic", "factor": null}})", {"needs \"factor\""}},
      {R"({"scaling": {"type": "longrope", "short_factor": )" + numbers(8) + "}}",
       {"needs \"long_factor\""}},
      {R"({"scaling": {"type": "dual_chunk"}})", {"needs \"chunk_size\""}},
      {R"({"scaling": {"type": "ntk"}})", {"/rope/scaling", "factor", "alpha"}},
      {R"({"scaling": {"type": "yarn", "factor": 4}})",
       {"/rope/scaling/type", "model.max_position is missing", "yarn"}},
      {R"({"scaling": {"type": "fope"}})", {"model.max_position is missing"}},
      // Values that do not go together.
      {R"({"scaling": {"type": "ntk", "factor": 2, "alpha": 2}})", {"/rope/scaling", "alpha"}},
      {R"({"scaling": {"type": "yarn", "rope_type": "linear", "factor": 2}})",
       {"/rope/scaling", "yarn", "linear"}},
      {R"({"scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 5}})",
       {"/rope/scaling/low_freq_factor: 5 is above high_freq_factor 4"}},
      {R"({"scaling": {"type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 32)" + trained +
           "}}",
       {"/rope/scaling/beta_fast", "at least beta_slow"}},
      {R"({"theta": 1, "scaling": {"type": "yarn", "factor": 4)" + trained + "}}",
       {"/rope/theta: 1 is not allowed", "above 1"}},
      {R"({"rotary_dim": 2, "scaling": {"type": "ntk", "factor": 4}})",
       {"/rope/rotary_dim: 2 is not allowed", "at least 4"}},
      {R"({"scaling": {"type": "dual_chunk", "chunk_size": 8, "local_size": 8}})",
       {"/rope/scaling/local_size: 8 with chunk_size 8"}},
      {R"({"scaling": {"type": "fope", "num_inv_freq": 9}})",
       {"/rope/scaling/num_inv_freq: 9 is not allowed", "rotary_dim / 2 = 8"}},
      {R"({"scaling": {"type": "longrope", "short_factor": )" + numbers(8) +
           R"(, "long_factor": )" + numbers(7) + trained + "}}",
       {"/rope/scaling/long_factor", "7 numbers", "rotary_dim/2 is 8"}},
      {R"({"theta": 1e-300})", {"/rope/theta: the frequency of pair", "not a finite number"}},
      {R"({"scaling": {"type": "ntk", "factor": 1e307}})",
       {"/rope/scaling/factor: 1e+307 is too large", "the base would be inf"}},
      {R"({"scaling": {"type": "yarn", "factor": 4, "attention_factor": 1e300)" + trained + "}}",
       {"/rope/scaling/attention_factor: 1e+300 is not allowed", "float32"}},
      // The base would become negative.
      {R"({"seq_len": 8, "scaling": {"type": "dynamic", "factor": 2, "length_rule": "unclamped")" +
           trained + "}}",
       {"/rope/seq_len: the dynamic base would be negative", "length 8", "above 0"}},
      {R"({"scaling": {"type": "dynamic", "factor": 2, "length_rule": "unclamped")" + trained +
           "}}",
       {"/rope/scaling/type: rope.seq_len: the dynamic base would be negative"}},
  };
  for (const Refused& row : rows) {
    const std::string message = error_of(row.rope, row.model);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.rfind("t.json:2:", 0), 0u) << row.rope << ": " << message;
    for (const std::string& part : row.parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "no " << part << " in: " << message;
    }
  }
}

TEST(ScalingCheck, AnAxisMakesASkippedRow) {
  const LoadedConfig config =
      load(R"({"rotary_dim": [2, 16], "scaling": {"type": "ntk", "factor": 4}})", "[1, 2]");
  ASSERT_EQ(config.cases.size(), 4u);
  for (const RopeCase& c : config.cases) {
    EXPECT_EQ(c.skip_reason.empty(), c.rope.rotary_dim == 16) << c.name;
  }
  EXPECT_NE(config.cases[0].skip_reason.find("2 is not allowed"), std::string::npos);
  // The number of tokens is to blame only where the length is.
  const LoadedConfig lengths = load(
      R"({"scaling": {"type": "dynamic", "factor": 2, "length_rule": "unclamped",
          "original_max_position_embeddings": 64}})",
      "[8, 64]");
  EXPECT_NE(lengths.cases[0].skip_reason.find("negative"), std::string::npos);
  EXPECT_EQ(lengths.cases[1].skip_reason, "");
  EXPECT_THROW(
      load(R"({"scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 5}})", "[1, 2]"),
      ConfigError);
}

}  // namespace
}  // namespace rope_bench
