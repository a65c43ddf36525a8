// Every entry of tables.json whose method is implemented: frequencies, attention factor, cos, sin.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/math/golden.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

using nlohmann::json;

// What a config reader makes of transformers' config.
RopeCase case_of(const json& entry) {
  const json& config = entry.at("config");
  const json& rope = config.at("rope_parameters");
  RopeCase c = make_case(config.at("head_dim").get<int64_t>(), rope.at("rope_theta").get<double>());
  c.max_position = config.at("max_position_embeddings").get<int64_t>();
  c.rope.seq_len = entry.at("positions").back().get<int64_t>() + 1;
  Scaling& scaling = c.rope.scaling;
  scaling.type = rope.at("rope_type").get<std::string>();
  for (const ScalingMethodSpec& spec : scaling_catalog()) {
    for (const std::string& alias : spec.aliases) {
      if (alias == scaling.type) scaling.type = spec.name;
    }
  }
  if (rope.contains("partial_rotary_factor")) {
    const double factor = rope.at("partial_rotary_factor").get<double>();
    if (scaling.type == "proportional") {
      c.rope.proportion = factor;
    } else {
      c.rope.rotary_dim = static_cast<int64_t>(factor * static_cast<double>(c.head_dim));
    }
  }
  const auto add = [&](const std::string& key, const json& value) {
    if (value.is_boolean()) scaling.params[key] = value.get<bool>();
    if (value.is_number()) scaling.params[key] = value.get<double>();
    if (value.is_array()) scaling.params[key] = value.get<std::vector<double>>();
  };
  for (const auto& [key, value] : rope.items()) {
    if (key != "rope_type" && key != "rope_theta" && key != "partial_rotary_factor")
      add(key, value);
  }
  if (config.contains("original_max_position_embeddings")) {
    add("original_max_position_embeddings", config.at("original_max_position_embeddings"));
  }
  return c;
}

int64_t ulps_between(float a, float b) {
  return std::abs(static_cast<int64_t>(std::bit_cast<int32_t>(a)) - std::bit_cast<int32_t>(b));
}

// By name: an entry has thousands of numbers, and a parameter is printed whole.
class GoldenTable : public testing::TestWithParam<std::string> {};

json entry_named(const std::string& name) {
  for (const json& entry : read_golden("tables.json")) {
    if (entry.at("name") == name) return entry;
  }
  return {};
}

std::vector<std::string> entry_names() {
  std::vector<std::string> names;
  for (const json& entry : read_golden("tables.json")) names.push_back(entry.at("name"));
  return names;
}

TEST_P(GoldenTable, Agrees) {
  const json entry = entry_named(GetParam());
  const RopeCase c = case_of(entry);
  ASSERT_EQ(unsupported_scaling(c), "");
  const Frequencies f = frequencies_of(c);
  const auto golden =
      entry.value("inv_freq_after_forward", entry.at("inv_freq")).get<std::vector<float>>();
  ASSERT_EQ(f.float32.size(), golden.size());
  int equal = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    EXPECT_LE(ulps_between(f.float32[i], golden[i]), 2) << "pair " << i;
    equal += f.float32[i] == golden[i];
    // The exact frequency is the same to the float32 recipe's own error.
    EXPECT_NEAR(static_cast<double>(f.exact[i]), golden[i], 40 * 0x1p-24 * golden[i]);
  }
  EXPECT_GE(equal, static_cast<int>(golden.size()) - 6);
  // Printed with nine digits.
  EXPECT_NEAR(f.attention_factor, entry.at("attention_scaling").get<double>(),
              5e-9 * f.attention_factor);

  Frequencies theirs = f;
  theirs.float32 = golden;
  const double af = f.attention_factor;
  const auto positions = entry.at("positions").get<std::vector<int64_t>>();
  for (size_t p = 0; p < positions.size(); ++p) {
    const auto cosines = entry.at("cos")[p].get<std::vector<double>>();
    const auto sines = entry.at("sin")[p].get<std::vector<double>>();
    const Row with_theirs = row_of(theirs, TableAngle::kFloat32, positions[p]);
    const Row with_ours = row_of(f, TableAngle::kFloat32, positions[p]);
    const Row exact = row_of(f, TableAngle::kExact, positions[p]);
    for (size_t i = 0; i < golden.size(); ++i) {
      const double position = static_cast<double>(positions[p]);
      // Two roundings to float32 of values below 1.5, and a float32 cosine good to 1 ULP.
      EXPECT_NEAR(with_theirs.cosines[i], cosines[i], 3e-7);
      EXPECT_NEAR(with_theirs.sines[i], sines[i], 3e-7);
      const double delta = std::abs(f.float32[i] - golden[i]) + 0x1p-23 * golden[i];
      const double tolerance = 2e-6 + af * position * delta;
      EXPECT_NEAR(with_ours.cosines[i], cosines[i], tolerance);
      EXPECT_NEAR(with_ours.sines[i], sines[i], tolerance);
      if (positions[p] > 131071) continue;
      // The recipe's own error. Where yarn's ramp is nearly 1 the small difference 1 - ramp carries
      // it to 8 roundings at factor 40; elsewhere 4.6.
      const double angle = position * static_cast<double>(f.exact[i]);
      const double roundings = GetParam() == "yarn-mscale-alone" ? 8 : 4.6;
      EXPECT_NEAR(exact.cosines[i], cosines[i], 2e-6 + roundings * 0x1p-24 * angle * af);
      EXPECT_NEAR(exact.sines[i], sines[i], 2e-6 + roundings * 0x1p-24 * angle * af);
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& entry) {
  std::string text = entry.param;
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTable, testing::ValuesIn(entry_names()), test_name);

}  // namespace
}  // namespace rope_bench
