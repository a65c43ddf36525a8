// Methods that blend by pair between the plain and the interpolated frequency: yarn, yarn_lambda.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

ScalingParamSpec number(const char* name, std::optional<double> default_value, double min,
                        const char* summary) {
  ScalingParamSpec p;
  p.name = name;
  p.default_value = default_value;
  p.min = min;
  p.summary = summary;
  return p;
}

constexpr double kPi = 3.14159265358979323846;

// Pairs from `low` on are interpolated in part, from `high` on wholly.
struct CorrectionRange {
  double low, high;
};

// The pair (as a real number) that makes `turns` turns within the trained length.
double correction_pair(double turns, double trained, double theta, double rotary_dim) {
  return rotary_dim * std::log(trained / (turns * 2 * kPi)) / (2 * std::log(theta));
}

CorrectionRange correction_range(const RopeCase& c, const ScalingParams& params, double trained) {
  const double r = static_cast<double>(c.rope.rotary_dim);
  double low = correction_pair(params.number("beta_fast"), trained, c.rope.theta, r);
  double high = correction_pair(params.number("beta_slow"), trained, c.rope.theta, r);
  if (params.flag("truncate")) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, r - 1);    // dims, not pairs: so in every implementation
  if (low == high) high += 0.001;  // both betas equal: a step instead of a division by zero
  return {low, high};
}

double magnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

// As in transformers: the explicit factor wins; the mscale pair counts only if both are given and
// not zero.
double attention_factor(const ScalingParams& params, double factor, std::string* rule) {
  if (const std::optional<double> given = params.find("attention_factor")) {
    *rule = "attention_factor as given";
    return *given;
  }
  const double mscale = params.find("mscale").value_or(0);
  const double all_dim = params.find("mscale_all_dim").value_or(0);
  const double times = params.number("attn_factor");
  if (mscale != 0 && all_dim != 0) {
    *rule = "ratio of mscale and mscale_all_dim";
    return magnitude(factor, mscale) / magnitude(factor, all_dim) * times;
  }
  *rule = mscale != 0 || all_dim != 0
              ? "0.1 ln(factor) + 1; mscale and mscale_all_dim count only together"
              : "0.1 ln(factor) + 1";
  return magnitude(factor, 1) * times;
}

Frequencies yarn(const RopeCase& c, const ScalingParams& params) {
  if (c.rope.theta <= 1) {
    throw ConfigError(fmt::format(
        "rope.theta: {} is not allowed, scaling yarn expects a number above 1", c.rope.theta));
  }
  const double factor = params.number("factor");
  const double trained = original_length(c, params);
  const double extrapolation = params.number("extrapolation_factor");
  const CorrectionRange range = correction_range(c, params, trained);
  if (range.low > range.high) {
    params.fail("beta_fast", fmt::format("the correction range {} to {} is empty: beta_fast must "
                                         "be at least beta_slow",
                                         range.low, range.high));
  }
  Frequencies f;
  f.exact = base_exact(c.rope.theta, c.rope.rotary_dim, c.rope.rotary_dim / 2);
  const std::vector<float> powers =
      base_powers(c.rope.theta, c.rope.rotary_dim, c.rope.rotary_dim / 2);
  const float width = static_cast<float>(range.high - range.low);
  std::vector<double> ramps;
  for (size_t i = 0; i < powers.size(); ++i) {
    const long double ramp = std::clamp(
        (static_cast<long double>(i) - range.low) / (range.high - range.low), 0.0L, 1.0L);
    const long double plain = (1 - ramp) * extrapolation;
    f.exact[i] = f.exact[i] / factor * (1 - plain) + f.exact[i] * plain;
    ramps.push_back(static_cast<double>(ramp));

    const float p = powers[i];
    const float extrapolated = 1.0f / p;
    const float interpolated = 1.0f / (static_cast<float>(factor) * p);
    const float ramp32 =
        std::clamp((static_cast<float>(i) - static_cast<float>(range.low)) / width, 0.0f, 1.0f);
    const float plain32 = (1.0f - ramp32) * static_cast<float>(extrapolation);
    f.float32.push_back(interpolated * (1.0f - plain32) + extrapolated * plain32);
  }
  std::string rule;
  f.attention_factor = attention_factor(params, factor, &rule);
  f.details = {{"correction_range", std::vector<double>{range.low, range.high}},
               {"ramp", ramps},
               {"attention_rule", rule}};
  return f;
}

Frequencies yarn_lambda(const RopeCase& c, const ScalingParams& params) {
  const std::optional<double> given = params.find("factor");
  const double factor = given ? *given : max_position(c) / original_length(c, params);
  if (factor < 1) {
    params.fail("original_max_position_embeddings",
                fmt::format("{} exceeds model.max_position, expected at most that",
                            original_length(c, params)));
  }
  const long double scale =
      1 + (1 / static_cast<long double>(factor) - 1) * params.number("lambda");
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  for (size_t i = 0; i < f.exact.size(); ++i) {
    if (4 * static_cast<int64_t>(i) <= c.rope.rotary_dim) continue;
    f.exact[i] *= scale;
    f.float32[i] *= static_cast<float>(scale);
  }
  f.details = {{"scale", static_cast<double>(scale)}};
  return f;
}

}  // namespace

std::vector<ScalingMethod> yarn_scalings() {
  ScalingMethod yarn_row;
  yarn_row.spec.name = "yarn";
  yarn_row.spec.aliases = {"deepseek_yarn"};
  yarn_row.spec.params = {
      factor_param(1, false, true),
      original_length_param(),
      number("beta_fast", 32, 0, "pairs with more turns in the trained length stay as they are"),
      number("beta_slow", 1, 0, "pairs with fewer turns are interpolated"),
      number("truncate", 1, 0, "round the correction range outwards to whole pairs"),
      attention_factor_param(),
      number("mscale", std::nullopt, 0, "counts only together with mscale_all_dim"),
      number("mscale_all_dim", std::nullopt, 0, "counts only together with mscale"),
      number("extrapolation_factor", 1, 0, "multiplies the share of the plain frequency"),
      number("attn_factor", 1, 0, "multiplies the method's own attention factor"),
  };
  yarn_row.spec.params[2].min_exclusive = true;
  yarn_row.spec.params[3].min_exclusive = true;
  yarn_row.spec.params[4].kind = ParamKind::kFlag;
  yarn_row.spec.params[9].min_exclusive = true;
  yarn_row.spec.summary = "inv/factor ramp + inv (1 - ramp); cos and sin times 0.1 ln(factor) + 1";
  yarn_row.spec.source = "Peng et al. 2023, YaRN; as in transformers";
  yarn_row.make = yarn;

  ScalingMethod lambda_row;
  lambda_row.spec.name = "yarn_lambda";
  lambda_row.spec.params = {factor_param(1, false, false), original_length_param(),
                            number("lambda", 0.9, 0, "share of the interpolation")};
  lambda_row.spec.params[0].summary = "infer / train; absent: max_position / original length";
  lambda_row.spec.params[2].max = 1;
  lambda_row.spec.summary = "inv (1 + (1/factor - 1) lambda) for pairs i > r/4, inv for the others";
  lambda_row.spec.source = "a simplification of YaRN met in one article; in no implementation";
  lambda_row.make = yarn_lambda;

  return {yarn_row, lambda_row};
}

}  // namespace rope_bench
