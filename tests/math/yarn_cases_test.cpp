// YaRN parameters that broke other RoPE software (section G of the collection, C003, C192): numbers
// computed independently at 60 digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "tests/math/scaling_case.h"

namespace rope_bench {
namespace {

TEST(ScalingCases, C003_YarnOnceAndTwice) {
  const RopeCase c = scaled_case(4, 10000, "yarn", {{"factor", 32.0}}, 4096);
  EXPECT_EQ(list_detail(frequencies_of(c), "correction_range"), (std::vector<double>{0, 2}));
  expect_relative(inv(c, 0), 1);
  expect_relative(inv(c, 1), 0.00515625);
  const auto once = rotated(c, 1, {1, 2, 3, 4});
  expect_near(once, {-2.671751, 2.665338422, 3.315773053, 5.400109237}, 1e-8);
  expect_near(rotated(c, 1, once), {-5.700961734, 3.551532367, -0.6149547335, 7.290053901}, 1e-8);
}

TEST(ScalingCases, C074_MscalePair) {
  for (const auto& [factor, plain] :
       {std::pair{16.0, 1.2772588722239781}, std::pair{40.0, 1.3688879454113936}}) {
    Params params = {{"factor", factor}, {"mscale", 1.0}, {"mscale_all_dim", 1.0}};
    EXPECT_EQ(factor_of(scaled_case(128, 10000, "yarn", params, 4096)), 1.0);
    params = {{"factor", factor}};
    expect_relative(factor_of(scaled_case(128, 10000, "yarn", params, 4096)), plain, 1e-15);
  }
}

TEST(ScalingCases, C076_C077_ExplicitAttentionFactor) {
  const auto factor = [](Params params) {
    return factor_of(scaled_case(128, 10000, "yarn", std::move(params), 4096));
  };
  EXPECT_EQ(factor({{"factor", 64.0}, {"attention_factor", 1.4158883083359672}}),
            1.4158883083359672);
  EXPECT_EQ(factor({{"factor", 32.0}, {"attention_factor", 1.3465735902799727}}),
            1.3465735902799727);
  EXPECT_EQ(factor({{"factor", 64.0}, {"attention_factor", 1.0}}), 1.0);
  expect_relative(factor({{"factor", 64.0}}), 1.4158883083359672, 1e-15);
  expect_relative(factor({{"factor", 8.0}}), 1.2079441541679836, 1e-15);
  expect_relative(factor({{"factor", 32.0}}), 1.3465735902799727, 1e-15);
  EXPECT_EQ(factor({{"factor", 1.0}}), 1.0);
  expect_relative(factor({{"factor", 8.0}, {"attn_factor", 2.0}}), 2 * 1.2079441541679836, 1e-15);
}

TEST(ScalingCases, C078_UpperClampIsRotaryDimMinusOne) {
  const RopeCase c =
      scaled_case(64, 10000, "yarn",
                  {{"factor", 8.0}, {"original_max_position_embeddings", 131072.0}}, 1048576);
  EXPECT_EQ(list_detail(frequencies_of(c), "correction_range"), (std::vector<double>{22, 35}));
  expect_relative(inv(c, 31), 5.25715179987e-5);
  RopeCase raw = c;
  raw.rope.scaling.params["truncate"] = false;
  expect_near(list_detail(frequencies_of(raw), "correction_range"), {22.513441, 34.55464}, 1e-6);
  // Beyond r/2 - 1 the last pair is never wholly interpolated.
  const RopeCase wide = scaled_case(
      128, 10000, "yarn", {{"factor", 4.0}, {"original_max_position_embeddings", 65536.0}});
  EXPECT_EQ(list_detail(frequencies_of(wide), "correction_range")[1], 65);
}

TEST(ScalingCases, C080_EqualBetas) {
  Params params = {{"factor", 32.0},
                   {"original_max_position_embeddings", 4096.0},
                   {"beta_fast", 1.0},
                   {"beta_slow", 1.0}};
  RopeCase c = scaled_case(64, 50000, "yarn", params);
  EXPECT_EQ(list_detail(frequencies_of(c), "correction_range"), (std::vector<double>{19, 20}));
  expect_relative(inv(c, 19), 0.00162175990812);
  expect_relative(inv(c, 20), 3.61404677357e-5);
  c.rope.scaling.params["truncate"] = false;
  const auto range = list_detail(frequencies_of(c), "correction_range");
  EXPECT_NEAR(range[0], 19.1645748886, 1e-10);
  EXPECT_NEAR(range[1], range[0] + 0.001, 1e-12);
  expect_relative(inv(c, 19), 0.00162175990812);
  expect_relative(inv(c, 20), 3.61404677357e-5);
}

TEST(ScalingCases, C082_DeepSeekIsUnscaled) {
  for (const double mscale : {1.0, 0.707}) {
    EXPECT_EQ(factor_of(scaled_case(64, 10000, "deepseek_yarn",
                                    {{"factor", 40.0},
                                     {"original_max_position_embeddings", 4096.0},
                                     {"mscale", mscale},
                                     {"mscale_all_dim", mscale}})),
              1.0);
  }
}

TEST(ScalingCases, C084_MagnitudeOnceInTotal) {
  const RopeCase c = scaled_case(128, 1e6, "yarn",
                                 {{"factor", 16.0}, {"original_max_position_embeddings", 16384.0}});
  std::vector<double> x(128);
  x[0] = 1;
  std::vector<double> y = rotated(c, 5, x);
  EXPECT_NEAR(y[0], 0.3623100431, 1e-9);
  EXPECT_NEAR(y[64], -1.224794538, 1e-9);
  const Frequencies f = frequencies_of(c);
  RopeCase step = scaled_case(128, 1e6, "custom", {});
  step.rope.scaling.params["inv_freq"] = std::vector<double>(f.exact.begin(), f.exact.end());
  std::vector<double> z = rotated(step, 3, y);
  EXPECT_NEAR(z[0], -0.1858412091, 1e-9);
  EXPECT_NEAR(z[64], 1.263666598, 1e-9);
  step.rope.scaling.params["attention_factor"] = 1.2772588722239781;
  z = rotated(step, 3, y);
  EXPECT_NEAR(z[0], -0.2373673331, 1e-9);
  EXPECT_NEAR(z[64], 1.614029374, 1e-9);
}

TEST(ScalingCases, C192_HalfAnMscalePair) {
  for (const char* key : {"mscale", "mscale_all_dim"}) {
    const RopeCase c =
        scaled_case(128, 10000, "yarn",
                    {{"factor", 40.0}, {"original_max_position_embeddings", 4096.0}, {key, 0.707}});
    expect_relative(factor_of(c), 1.3688879454113936, 1e-15);
    const ScalingDetail rule = frequencies_of(c).details.back();
    EXPECT_NE(std::get<std::string>(rule.value).find("only together"), std::string::npos);
  }
}

}  // namespace
}  // namespace rope_bench
