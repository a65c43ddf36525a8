// The registry: rows, aliases, refusals, and what must hold for every method.
#include "src/math/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "src/case/errors.h"
#include "src/math/npy.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

RopeCase scaled_case(const std::string& type, std::map<std::string, ScalingValue> params,
                     int64_t rotary_dim = 128) {
  RopeCase c = make_case(rotary_dim);
  c.max_position = 4096;
  c.rope.scaling = {type, std::move(params)};
  return c;
}

TEST(Scaling, RowsAreComplete) {
  std::set<std::string> names;
  for (const ScalingMethodSpec& row : scaling_catalog()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const std::string& alias : row.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    for (const ScalingParamSpec& param : row.params) {
      EXPECT_FALSE(param.name.empty()) << row.name;
      EXPECT_FALSE(param.summary.empty()) << row.name << " " << param.name;
    }
  }
  for (const char* name :
       {"none", "linear", "ntk", "ntk_vllm", "dynamic_ntk", "yarn", "yarn_lambda", "llama3",
        "longrope", "proportional", "fope", "dual_chunk", "custom", "default", "dynamic", "su",
        "deepseek_yarn", "dynamic_alpha"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Scaling, UnknownTypeIsRefusedByName) {
  const RopeCase c = scaled_case("yarm", {});
  EXPECT_NE(unsupported_scaling(c).find("yarm"), std::string::npos);
  EXPECT_THROW(frequencies_of(c), ConfigError);
}

// Factor 1 is none, but for dynamic NTK beyond the trained length and for longrope's lists. The
// exact frequencies to long double's rounding, the float32 ones to two of theirs.
TEST(Scaling, FactorOneIsNone) {
  const Frequencies plain = frequencies_of(make_case(128));
  for (const char* type : {"linear", "ntk", "ntk_vllm", "dynamic_ntk", "yarn", "yarn_lambda",
                           "llama3", "proportional"}) {
    const Frequencies f = frequencies_of(scaled_case(type, {{"factor", 1.0}}));
    EXPECT_EQ(f.attention_factor, 1.0) << type;
    ASSERT_EQ(f.exact.size(), 64u);
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_NEAR(static_cast<double>(f.exact[i] / plain.exact[i]), 1, 0x1p-60) << type;
      EXPECT_NEAR(f.float32[i], plain.float32[i], 2 * ulp(Dtype::kF32, plain.float32[i])) << type;
    }
  }
}

// Every row that has a single table gives finite frequencies of both kinds that agree.
TEST(Scaling, BothPrecisionsAgree) {
  const std::map<std::string, std::map<std::string, ScalingValue>> examples = {
      {"none", {}},
      {"linear", {{"factor", 3.0}}},
      {"proportional", {{"factor", 2.0}}},
      {"custom", {{"inv_freq", std::vector<double>(64, 0.3)}}},
      {"ntk", {{"factor", 8.0}}},
      {"ntk_vllm", {{"factor", 8.0}}},
      {"dynamic_ntk", {{"factor", 2.0}, {"length_rule", std::string("vllm")}}},
      {"yarn", {{"factor", 3.0}, {"truncate", false}}},
      {"yarn_lambda", {{"factor", 3.0}}},
      {"llama3", {{"factor", 8.0}}},
      {"longrope",
       {{"short_factor", std::vector<double>(64, 1.1)},
        {"long_factor", std::vector<double>(64, 7.3)}}},
      {"fope", {}},
      {"dual_chunk", {{"chunk_size", 64.0}}},
  };
  for (const ScalingMethodSpec& row : scaling_catalog()) {
    ASSERT_TRUE(examples.contains(row.name)) << row.name << " has no example";
    const Frequencies f = frequencies_of(scaled_case(row.name, examples.at(row.name)));
    ASSERT_EQ(f.exact.size(), 64u);
    ASSERT_EQ(f.float32.size(), 64u);
    for (size_t i = 0; i < 64; ++i) {
      const double exact = static_cast<double>(f.exact[i]);
      EXPECT_NEAR(f.float32[i], exact, 20 * 0x1p-24 * exact) << row.name << " pair " << i;
    }
  }
}

TEST(Scaling, Ntk) {
  const auto base = [](int64_t r) {
    const Frequencies f = frequencies_of(scaled_case("ntk", {{"factor", 1000.0}}, r));
    return std::get<double>(f.details.at(0).value);
  };
  EXPECT_NEAR(base(128), 1.116e7, 1e4);
  EXPECT_NEAR(base(80), 1.194e7, 1e4);
  // The first pair is left alone, the last is slowed by exactly the factor.
  const Frequencies plain = frequencies_of(make_case(80));
  const Frequencies f = frequencies_of(scaled_case("dynamic_alpha", {{"alpha", 8.0}}, 80));
  EXPECT_EQ(f.exact[0], 1);
  EXPECT_NEAR(static_cast<double>(plain.exact[39] / f.exact[39]), 8, 1e-15);
  // Partial: the exponent is of the rotary dims.
  RopeCase partial = scaled_case("ntk", {{"factor", 8.0}}, 80);
  partial.head_dim = 160;
  EXPECT_EQ(frequencies_of(partial).exact, f.exact);

  EXPECT_THROW(frequencies_of(scaled_case("ntk", {})), ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("ntk", {{"factor", 2.0}, {"alpha", 2.0}})), ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("ntk", {{"factor", 0.5}})), ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("ntk", {{"factor", 2.0}}, 2)), ConfigError);
}

TEST(Scaling, NtkVllm) {
  const Frequencies plain = frequencies_of(make_case(128));
  const Frequencies f = frequencies_of(scaled_case("ntk_vllm", {{"factor", 8.0}}));
  EXPECT_NEAR(static_cast<double>(f.exact[0]), 0.968, 5e-4);
  EXPECT_NEAR(static_cast<double>(plain.exact[63] / f.exact[63]), 8, 1e-14);
  const Frequencies mixed =
      frequencies_of(scaled_case("ntk_vllm", {{"factor", 8.0}, {"mixed_b", 0.625}}));
  EXPECT_NEAR(static_cast<double>(mixed.exact[0]), 1 - 0.143, 5e-4);
  EXPECT_NEAR(static_cast<double>(plain.exact[63] / mixed.exact[63]), 8, 1e-14);
}

TEST(Scaling, YarnLambda) {
  const Frequencies plain = frequencies_of(make_case(128));
  const Frequencies f =
      frequencies_of(scaled_case("yarn_lambda", {{"original_max_position_embeddings", 1024.0}}));
  // 1 + (1/4 - 1) 0.9 = 0.325 for the pairs beyond a quarter of the dims.
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(static_cast<double>(f.exact[i] / plain.exact[i]), i > 32 ? 0.325 : 1, 1e-15);
  }
  EXPECT_EQ(f.attention_factor, 1);
  EXPECT_THROW(
      frequencies_of(scaled_case("yarn_lambda", {{"original_max_position_embeddings", 8192.0}})),
      ConfigError);
}

// Several factors: one table behind the other, as long as each stretches the trained length.
TEST(Scaling, LinearList) {
  const RopeCase c = scaled_case("linear", {{"factor", std::vector<double>{1.0, 2.5, 4.0}}});
  const Frequencies f = frequencies_of(c);
  ASSERT_EQ(f.segments.size(), 2u);
  EXPECT_EQ(f.segments[0].first_row, 4096);
  EXPECT_EQ(f.segments[1].first_row, 4096 + 10240);
  const Frequencies plain = frequencies_of(make_case(128));
  for (const auto& [row, factor, position] : {std::tuple{4095, 1.0, 4095},
                                              {4096, 2.5, 0},
                                              {4096 + 7, 2.5, 7},
                                              {4096 + 10239, 2.5, 10239},
                                              {4096 + 10240 + 3, 4.0, 3}}) {
    const double angle = position / factor * static_cast<double>(plain.exact[3]);
    EXPECT_NEAR(row_of(f, TableAngle::kExact, row).cosines[3], std::cos(angle), 1e-12);
    EXPECT_NEAR(row_of(f, TableAngle::kFloat32, row).sines[3], std::sin(angle), 1e-3);
  }
  EXPECT_THROW(frequencies_of(scaled_case("linear", {{"factor", std::vector<double>{}}})),
               ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("linear", {{"factor", std::vector<double>{1.0, 0.0}}})),
               ConfigError);
  RopeCase unknown = c;
  unknown.max_position.reset();
  EXPECT_THROW(frequencies_of(unknown), ConfigError);
}

TEST(Scaling, Custom) {
  const Frequencies f = frequencies_of(scaled_case(
      "custom", {{"inv_freq", std::vector<double>{1, -0.25}}, {"attention_factor", 1.5}}, 4));
  EXPECT_EQ(f.exact, (std::vector<long double>{1, -0.25L}));
  EXPECT_EQ(f.float32, (std::vector<float>{1, -0.25f}));
  const Row row = row_of(f, TableAngle::kExact, 2);
  EXPECT_NEAR(row.sines[1], -1.5 * std::sin(0.5), 1e-15);
  EXPECT_THROW(frequencies_of(scaled_case("custom", {{"inv_freq", std::vector<double>{1}}}, 4)),
               ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("custom", {}, 4)), ConfigError);
}

TEST(Scaling, BadYarn) {
  EXPECT_THROW(frequencies_of(scaled_case("yarn", {})), ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case("yarn", {{"factor", 0.5}})), ConfigError);
  // The slow end before the fast one: there is no range to blend in.
  EXPECT_THROW(frequencies_of(
                   scaled_case("yarn", {{"factor", 4.0}, {"beta_fast", 1.0}, {"beta_slow", 32.0}})),
               ConfigError);
  RopeCase c = scaled_case("yarn", {{"factor", 4.0}});
  c.rope.theta = 1;
  EXPECT_THROW(frequencies_of(c), ConfigError);
  c = scaled_case("yarn", {{"factor", 4.0}});
  c.max_position.reset();  // neither trained length
  EXPECT_THROW(frequencies_of(c), ConfigError);
}

TEST(Scaling, NeverANumberThatIsNone) {
  RopeCase c = make_case(128, 1e-300);
  EXPECT_THROW(frequencies_of(c), ConfigError);
}

TEST(Scaling, DualChunkTables) {
  const RopeCase c = scaled_case("dual_chunk", {{"chunk_size", 100.0}, {"local_size", 20.0}});
  EXPECT_NE(unsupported_scaling(c), "");
  // 245 = 3 x 80 + 5.
  const auto rows = named_rows(c, TableAngle::kExact, 245);
  const std::map<std::string, int64_t> want = {{"query", 5},
                                               {"query_successive", 85},
                                               {"key", 5},
                                               {"query_successive_unclamped", 85},
                                               {"query_inter", 105}};
  ASSERT_EQ(rows.size(), 5u);
  for (const NamedRow& row : rows) {
    EXPECT_EQ(row.row, want.at(row.name)) << row.name;
    EXPECT_EQ(row.cosines, row_of(make_case(128), TableAngle::kExact, row.row).cosines);
  }
  // 79 + 80 is clamped to the chunk.
  EXPECT_EQ(named_rows(c, TableAngle::kExact, 79)[1].row, 100);
  EXPECT_EQ(named_rows(c, TableAngle::kExact, 79)[3].row, 159);
  EXPECT_THROW(
      frequencies_of(scaled_case("dual_chunk", {{"chunk_size", 64.0}, {"local_size", 64.0}})),
      ConfigError);
}

std::string write_npy(const std::string& name, const std::string& dict,
                      const std::vector<float>& values) {
  const std::string path = testing::TempDir() + name;
  std::ofstream file(path, std::ios::binary);
  std::string header = dict;
  header.resize(118, ' ');
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size()) << '\0' << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return path;
}

TEST(Scaling, FopeCoefficientsFromAFile) {
  RopeCase c = scaled_case("fope", {{"num_inv_freq", 2.0}}, 8);
  c.num_heads = c.num_kv_heads = 2;
  const double f1 = static_cast<double>(frequencies_of(c).exact[1]);
  // Cosines: head 0 swaps the two, head 1 doubles them; sines: identity, then zero.
  const std::vector<float> values = {0, 1, 1, 0, 2, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0};
  const std::string path = write_npy(
      "fope.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2, 2), }", values);
  c.rope.scaling.params["coefficients"] = path;
  const auto rows = named_rows(c, TableAngle::kExact, 3);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].name, "kv_head_1");
  const double cos0 = std::cos(3.0), cos1 = std::cos(3 * f1);
  const double sin0 = std::sin(3.0), sin1 = std::sin(3 * f1);
  const std::vector<double> want_cos[] = {{cos1, cos0, 1, 1}, {2 * cos0, 2 * cos1, 1, 1}};
  const std::vector<double> want_sin[] = {{sin0, sin1, 0, 0}, {0, 0, 0, 0}};
  for (int head = 0; head < 2; ++head) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(rows[head].cosines[i], want_cos[head][i], 1e-12);
      EXPECT_NEAR(rows[head].sines[i], want_sin[head][i], 1e-12);
    }
  }
  c.num_kv_heads = 1;
  EXPECT_THROW(named_rows(c, TableAngle::kExact, 3), ConfigError);
  c.rope.scaling.params["coefficients"] = std::string("/nonexistent.npy");
  EXPECT_THROW(named_rows(c, TableAngle::kExact, 3), ConfigError);
  c.rope.scaling.params["coefficients"] = std::string("seeded");
  const auto seeded = named_rows(c, TableAngle::kExact, 3);
  EXPECT_NE(seeded[0].cosines[0], cos0);
  EXPECT_NEAR(seeded[0].cosines[0], cos0, 0.11);
  EXPECT_EQ(seeded[0].cosines, named_rows(c, TableAngle::kExact, 3)[0].cosines);
}

TEST(Npy, RefusesWhatItCannotRead) {
  const auto refused = [](const std::string& dict, size_t count) {
    const std::string path = write_npy("bad.npy", dict, std::vector<float>(count));
    try {
      read_npy(path);
    } catch (const ConfigError& error) {
      return std::string(error.what()).find(path) != std::string::npos;
    }
    return false;
  };
  EXPECT_FALSE(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 3));
  EXPECT_TRUE(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 2));
  EXPECT_TRUE(refused("{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }", 3));
  EXPECT_TRUE(refused("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 3));
  EXPECT_TRUE(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3x,), }", 3));
  EXPECT_TRUE(refused(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", 3));
  EXPECT_TRUE(refused("", 0));
}

}  // namespace
}  // namespace rope_bench
