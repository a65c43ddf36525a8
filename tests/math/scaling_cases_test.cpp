// Scaling parameters that broke other RoPE software (sections H, I and R of the collection, C012):
// numbers computed independently at 60 digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "tests/math/scaling_case.h"

namespace rope_bench {
namespace {

TEST(ScalingCases, C012_Proportional) {
  RopeCase c = scaled_case(8, 1e6, "proportional", {});
  c.rope.proportion = 0.25;
  expect_near(rotated(c, 5, {1, 2, 3, 4, 5, 6, 7, 8}),
              {5.078283559, 2, 3, 4, 0.4593866527, 6, 7, 8}, 1e-9);
  // Gemma 4: the slowest rotated pair of 512 dims.
  c = scaled_case(512, 1e6, "proportional", {});
  c.rope.proportion = 0.25;
  EXPECT_NEAR(inv(c, 63), 0.0334, 5e-5);
  EXPECT_EQ(inv(c, 64), 0);
  for (const double p : {0.0, -0.5, 1.5, std::nan("")}) {
    c.rope.proportion = p;
    EXPECT_THROW(frequencies_of(c), ConfigError);
  }
}

TEST(ScalingCases, C086_DynamicBelowTheTrainedLength) {
  RopeCase c = scaled_case(64, 1000, "dynamic_ntk", {{"factor", 2.0}}, 2048);
  c.rope.seq_len = 512;
  expect_relative(inv(c, 31), 0.00124093776075);
  EXPECT_EQ(number_detail(frequencies_of(c), "base"), 1000);
  c.rope.scaling.params["length_rule"] = std::string("unclamped");
  try {
    frequencies_of(c);
    FAIL() << "a negative base was accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("dynamic base would be negative"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("-0.5"), std::string::npos);
  }
}

TEST(ScalingCases, C088_DynamicByLength) {
  RopeCase c = scaled_case(128, 5e7, "dynamic", {{"factor", 6.0}}, 32768);
  c.rope.seq_len = 10;
  EXPECT_EQ(frequencies_of(c).exact, frequencies_of(make_case(128, 5e7)).exact);
  expect_relative(inv(c, 1), 0.758060021886);
  c.rope.seq_len = 65536;
  expect_relative(number_detail(frequencies_of(c), "base"), 360979300.433);
  expect_relative(inv(c, 63), inv(make_case(128, 5e7), 63) / 7, 1e-15);

  const RopeCase linear = scaled_case(128, 10000, "linear", {{"factor", 4.0}});
  EXPECT_NEAR(40000 * inv(linear, 1), 8659.6432336, 1e-7);
}

TEST(ScalingCases, DynamicVariants) {
  RopeCase c = scaled_case(128, 10000, "dynamic_ntk", {{"factor", 2.0}}, 2048);
  const auto base = [&](int64_t length, const char* rule) {
    c.rope.seq_len = length;
    c.rope.scaling.params["length_rule"] = std::string(rule);
    return number_detail(frequencies_of(c), "base");
  };
  EXPECT_EQ(base(2048, "transformers"), 10000);
  EXPECT_NEAR(base(4096, "transformers"), 30528, 0.5);
  EXPECT_NEAR(base(8192, "transformers"), 72196, 0.5);
  for (const int64_t length : {1, 2048, 8192}) EXPECT_NEAR(base(length, "vllm"), 30528, 0.5);
  EXPECT_EQ(base(4096, "unclamped"), base(4096, "transformers"));
  EXPECT_LT(base(1100, "unclamped"), 10000);
}

TEST(ScalingCases, C089_C090_Llama3) {
  const RopeCase c = scaled_case(64, 500000, "llama3",
                                 {{"factor", 32.0},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 8192.0}});
  const RopeCase plain = make_case(64, 500000);
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(inv(c, i), inv(plain, i));
  for (size_t i = 18; i < 32; ++i) EXPECT_EQ(inv(c, i), inv(plain, i) / 32);
  expect_relative(inv(c, 15), 0.0012905479282093, 1e-13);
  expect_relative(inv(c, 16), 0.00042955679655937, 1e-13);
  expect_relative(inv(c, 17), 9.7082878026277e-5, 1e-13);
  expect_relative(inv(c, 18), 1.9461638184831e-5, 1e-13);
  const Frequencies f = frequencies_of(c);
  EXPECT_EQ(number_detail(f, "kept_pairs"), 15);
  EXPECT_EQ(number_detail(f, "blended_pairs"), 3);
  EXPECT_EQ(number_detail(f, "scaled_pairs"), 14);
}

TEST(ScalingCases, C091_C093_Llama31) {
  // Defaults when absent: 8, 1, 4, 8192.
  const RopeCase c = scaled_case(128, 500000, "llama3", {});
  const Frequencies f = frequencies_of(c);
  expect_relative(inv(c, 29), 0.0021665707635034, 1e-13);
  expect_relative(inv(c, 31), 0.00085675141291963, 1e-13);
  expect_relative(inv(c, 34), 0.000178507812768);
  EXPECT_EQ(number_detail(f, "kept_pairs"), 29);
  EXPECT_EQ(number_detail(f, "blended_pairs"), 6);
  // The closed form of the blend, s = inv a + b, in float32: within 2 ULP of the banded form.
  const double a = 8192 / (2 * 3.14159265358979323846 * 3), b = -1.0 / 3;
  const Frequencies plain = frequencies_of(make_case(128, 500000));
  for (size_t i = 0; i < 64; ++i) {
    expect_relative(f.float32[i], static_cast<double>(f.exact[i]), 6e-7);
    const float inv32 = plain.float32[i];
    const float s = std::clamp(inv32 * static_cast<float>(a) + static_cast<float>(b), 0.0f, 1.0f);
    const float closed = (1 - s) * (inv32 / 8) + s * inv32;
    EXPECT_NEAR(closed, f.float32[i], 2 * ulp(Dtype::kF32, f.float32[i]));
  }
  // C093.
  expect_relative(inv(make_case(128, 500000), 63), 2.45514079113e-6);
  expect_relative(inv(c, 63), 3.06892598891e-7);
  EXPECT_EQ(inv(make_case(128, 500000), 63) / inv(c, 63), 8.0);
  EXPECT_NEAR(60000 * inv(c, 63), 0.0184135559335, 1e-13);
}

TEST(ScalingCases, Llama3WithoutMiddleBand) {
  // Llama 4 Scout: low = high = 1.
  const RopeCase c = scaled_case(128, 500000, "llama3",
                                 {{"factor", 16.0},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 1.0},
                                  {"original_max_position_embeddings", 8192.0}});
  const Frequencies f = frequencies_of(c);
  EXPECT_EQ(number_detail(f, "kept_pairs"), 35);
  EXPECT_EQ(number_detail(f, "blended_pairs"), 0);
  EXPECT_EQ(number_detail(f, "scaled_pairs"), 29);
  RopeCase reversed = c;
  reversed.rope.scaling.params["low_freq_factor"] = 2.0;
  EXPECT_THROW(frequencies_of(reversed), ConfigError);
}

TEST(ScalingCases, C095_LinearFactors) {
  const auto linear = [](ScalingValue factor) {
    return frequencies_of(scaled_case(128, 10000, "linear", {{"factor", std::move(factor)}}));
  };
  const Frequencies plain = frequencies_of(make_case(128));
  EXPECT_EQ(linear(1.0), plain);
  EXPECT_EQ(linear(8.0).exact[5], plain.exact[5] / 8);
  EXPECT_EQ(linear(0.5).exact[5], plain.exact[5] * 2);
  EXPECT_THROW(linear(0.0), ConfigError);
  EXPECT_THROW(linear(-1.0), ConfigError);
  EXPECT_THROW(linear(std::string("8")), ConfigError);
  EXPECT_THROW(linear(std::nan("")), ConfigError);
  EXPECT_THROW(frequencies_of(scaled_case(128, 10000, "linear", {})), ConfigError);
}

RopeCase phi4_mini(int64_t length) {
  RopeCase c =
      scaled_case(96, 10000, "longrope", {{"original_max_position_embeddings", 4096.0}}, 131072);
  std::vector<double> longs(48, 1.0);  // of the model's long list the factors that are looked at
  longs[1] = 1.118320672;
  longs[47] = 47.77;
  c.rope.scaling.params["short_factor"] = std::vector<double>(48, 1.0);
  c.rope.scaling.params["long_factor"] = longs;
  c.rope.seq_len = length;
  return c;
}

TEST(ScalingCases, C097_ListLength) {
  RopeCase c = phi4_mini(10);
  for (const size_t length : {64, 47}) {
    c.rope.scaling.params["long_factor"] = std::vector<double>(length, 1.0);
    try {
      frequencies_of(c);
      FAIL() << length << " factors were accepted";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(length)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("48"), std::string::npos);
    }
  }
}

TEST(ScalingCases, C099_LongropeFactor) {
  RopeCase c = phi4_mini(5000);
  Params& params = c.rope.scaling.params;
  expect_relative(factor_of(c), 1.1902380714238083, 1e-15);
  params["long_mscale"] = 1.3;
  EXPECT_EQ(factor_of(c), 1.3);
  params["attention_factor"] = 1.0;
  EXPECT_EQ(factor_of(c), 1.0);
  params.erase("attention_factor");
  c.rope.seq_len = 4096;  // the short list has its own
  expect_relative(factor_of(c), 1.1902380714238083, 1e-15);
  params["short_mscale"] = 1.1;
  EXPECT_EQ(factor_of(c), 1.1);
  params.erase("short_mscale");
  params["factor"] = 64.0;  // given, it wins over max_position / original
  expect_relative(factor_of(c), std::sqrt(1 + std::log(64.0) / std::log(4096.0)), 1e-15);
}

TEST(ScalingCases, C193_ListSwitch) {
  expect_relative(inv(phi4_mini(4096), 1), 0.825404185268);
  expect_relative(inv(phi4_mini(4097), 1), 0.738074691754);
  expect_relative(inv(phi4_mini(4097), 47), 2.5361684292e-6, 1e-10);
  for (const int64_t length : {4096, 4097}) {
    EXPECT_NEAR(row_of(phi4_mini(length), TableAngle::kExact, 1).cosines[0], 0.643088374522, 1e-12);
  }
  RopeCase c = phi4_mini(10);
  c.rope.scaling.params["list_rule"] = std::string("configured");
  expect_relative(inv(c, 1), 0.738074691754);
  c.rope.scaling.params["list_rule"] = std::string("per_position");
  EXPECT_EQ(factor_of(c), 1.0);
  const Row below = row_of(c, TableAngle::kExact, 4095), from = row_of(c, TableAngle::kExact, 4096);
  EXPECT_NEAR(below.cosines[1], std::cos(4095 * inv(phi4_mini(1), 1)), 1e-12);
  EXPECT_NEAR(from.cosines[1], std::cos(4096 * inv(phi4_mini(5000), 1)), 1e-12);
  // One table with both, and within its model.
  for (const TableAngle angle : {TableAngle::kExact, TableAngle::kFloat32}) {
    const CosSinTable table = build_table(frequencies_of(c), angle, 8192, 2);
    const TableError error = table_error(table, sequential(0, 8192), 2);
    EXPECT_LE(error.max_abs, error.tolerance);
    EXPECT_EQ(table.values[4096 * 96 + 1], static_cast<float>(row_of(c, angle, 4096).cosines[1]));
  }
}

TEST(ScalingCases, C105_FopePadding) {
  RopeCase c = scaled_case(128, 10000, "fope", {}, 4096);
  EXPECT_EQ(number_detail(frequencies_of(c), "kept_pairs"), 46);
  expect_relative(inv(c, 45), 0.001539926526, 1e-9);
  EXPECT_EQ(inv(c, 46), 0);
  std::vector<double> x(128), y(128);
  for (int i = 0; i < 128; ++i) x[i] = i + 1;
  const auto rows = named_rows(c, TableAngle::kExact, 3);
  ASSERT_EQ(rows.size(), 1u);
  rotate_reference(Pairing::kNeox, 128, 128, 0, rows[0].cosines.data(), rows[0].sines.data(),
                   x.data(), y.data());
  EXPECT_NEAR(y[0], -10.16279302, 1e-8);
  EXPECT_NEAR(y[64], -64.20839227, 1e-8);
  EXPECT_NEAR(y[45], 45.49133518, 1e-8);
  EXPECT_NEAR(y[109], 110.2113353, 1e-7);
  EXPECT_EQ(y[46], 47);
  EXPECT_EQ(y[110], 111);
  c.max_position = 512;
  EXPECT_EQ(number_detail(frequencies_of(c), "kept_pairs"), 31);
  EXPECT_NE(unsupported_scaling(c), "");  // no kernel reads a table per head ...
  EXPECT_EQ(unknown_scaling(c), "");      // ... but it can be tabulated
}

TEST(ScalingCases, C191_DynamicWithFactorOne) {
  RopeCase c = scaled_case(128, 10000, "dynamic_ntk", {{"factor", 1.0}}, 2048);
  c.rope.seq_len = 2048;
  EXPECT_EQ(frequencies_of(c).exact, frequencies_of(make_case(128)).exact);
  c.rope.seq_len = 4096;
  expect_relative(number_detail(frequencies_of(c), "base"), 20221.2616897);
  expect_relative(inv(c, 1), 0.856488914141);
  expect_relative(inv(c, 63), 5.77390992345e-5);
}

}  // namespace
}  // namespace rope_bench
