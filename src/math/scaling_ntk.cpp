// Methods that change the base: ntk, ntk_vllm, dynamic_ntk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

// r / (r - 2): with it the last pair is slowed by exactly the factor, the first not at all.
long double base_exponent(const RopeCase& c) {
  const long double r = static_cast<long double>(c.rope.rotary_dim);
  if (r <= 2) {
    throw ConfigError(
        "rope.rotary_dim: 2 is not allowed, scaling of the base needs at least 4 (its exponent is "
        "r / (r - 2))");
  }
  return r / (r - 2);
}

// A base beyond double would leave frequencies that nobody can name.
void require_base(const ScalingParams& params, const char* name, long double theta) {
  if (std::isfinite(static_cast<double>(theta))) return;
  params.fail(name, fmt::format("{} is too large: the base would be {:g}",
                                params.find(name).value_or(0), static_cast<double>(theta)));
}

Frequencies ntk(const RopeCase& c, const ScalingParams& params) {
  const std::optional<double> factor = params.find("factor");
  const std::optional<double> alpha = params.find("alpha");
  if (factor && alpha) params.fail("alpha", "given beside factor, expected one of the two");
  if (!factor && !alpha) params.fail("factor", "is missing (or alpha)");
  const long double s = factor ? *factor : *alpha;
  const long double theta = c.rope.theta * std::pow(s, base_exponent(c));
  require_base(params, factor ? "factor" : "alpha", theta);
  Frequencies f = base_frequencies(theta, c.rope.rotary_dim);
  f.details = {{"base", static_cast<double>(theta)}};
  return f;
}

Frequencies ntk_vllm(const RopeCase& c, const ScalingParams& params) {
  const double factor = params.number("factor");
  const long double pairs = static_cast<long double>(c.rope.rotary_dim / 2);
  const std::optional<double> b = params.find("mixed_b");
  if (!b) {
    Frequencies f =
        base_frequencies(static_cast<long double>(c.rope.theta) * factor, c.rope.rotary_dim);
    const long double slower = std::pow(static_cast<long double>(factor), 1 / pairs);
    for (long double& inv : f.exact) inv /= slower;
    for (float& inv : f.float32) inv /= static_cast<float>(slower);
    f.details = {{"base", c.rope.theta * factor}};
    return f;
  }
  // Mixed: the base stays; pair m = 1 .. r/2 is slowed by exp(a m^b), the last by the factor.
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  const long double a = std::log(static_cast<long double>(factor)) / std::pow(pairs, *b);
  for (size_t i = 0; i < f.exact.size(); ++i) {
    const long double m = static_cast<long double>(i + 1);
    f.exact[i] /= std::exp(a * std::pow(m, static_cast<long double>(*b)));
    const float power = pow_float32(static_cast<float>(i + 1), static_cast<float>(*b));
    const float exponent = static_cast<float>(a) * power;
    f.float32[i] /= static_cast<float>(std::exp(static_cast<long double>(exponent)));
  }
  f.details = {{"a", static_cast<double>(a)}};
  return f;
}

// The steps of transformers' float32 base after a forward pass over more than M positions.
float dynamic_base_float32(const RopeCase& c, double factor, double length, double trained) {
  float x = static_cast<float>(factor) * static_cast<float>(length);
  x /= static_cast<float>(trained);
  x -= static_cast<float>(factor - 1);
  x = static_cast<float>(std::pow(static_cast<long double>(x), base_exponent(c)));
  return static_cast<float>(c.rope.theta) * x;
}

Frequencies dynamic_ntk(const RopeCase& c, const ScalingParams& params) {
  const double factor = params.number("factor");
  const double trained = original_length(c, params);
  const std::string rule = params.text("length_rule");
  double length = static_cast<double>(seq_len_of(c));
  if (rule == "vllm") length = trained * factor;
  if (rule.empty() || rule == "transformers") length = std::max(length, trained);
  const long double inner =
      static_cast<long double>(factor) * length / trained - (static_cast<long double>(factor) - 1);
  if (inner <= 0) {
    throw ConfigError(
        fmt::format("rope.seq_len: the dynamic base would be negative: factor {} x length {} / "
                    "trained length {} - (factor - 1) = {}, expected above 0",
                    factor, length, trained, static_cast<double>(inner)));
  }
  const long double theta = c.rope.theta * std::pow(inner, base_exponent(c));
  require_base(params, "factor", theta);
  Frequencies f;
  f.exact = base_exact(theta, c.rope.rotary_dim, c.rope.rotary_dim / 2);
  // Beyond the trained length transformers forms the base from a float32 tensor; else, and in vLLM,
  // it is a double.
  const bool after_forward = length > trained && rule != "vllm";
  const double base =
      after_forward ? dynamic_base_float32(c, factor, length, trained) : static_cast<double>(theta);
  for (const float p : base_powers(base, c.rope.rotary_dim, c.rope.rotary_dim / 2)) {
    f.float32.push_back(1.0f / p);
  }
  f.details = {{"base", static_cast<double>(theta)}, {"length", length}};
  return f;
}

}  // namespace

std::vector<ScalingMethod> ntk_scalings() {
  ScalingMethod ntk_row;
  ntk_row.spec.name = "ntk";
  ntk_row.spec.aliases = {"dynamic_alpha"};
  ntk_row.spec.params = {factor_param(1, false, false), factor_param(1, false, false)};
  ntk_row.spec.params[1].name = "alpha";
  ntk_row.spec.params[1].summary = "the same under Hunyuan's name";
  ntk_row.spec.exactly_one_of = {"factor", "alpha"};
  ntk_row.spec.summary = "theta * factor^(r/(r-2)), then as none";
  ntk_row.spec.source = "bloc97 2023, NTK-aware scaling, fixed base";
  ntk_row.make = ntk;

  ScalingMethod vllm_row;
  vllm_row.spec.name = "ntk_vllm";
  vllm_row.spec.params = {factor_param(1, false, true), ScalingParamSpec{}};
  ScalingParamSpec& mixed_b = vllm_row.spec.params[1];
  mixed_b.name = "mixed_b";
  mixed_b.min = 0;
  mixed_b.min_exclusive = true;
  mixed_b.summary =
      "given: the mixed variant, inv_freq[m-1] / exp(a m^b), a = ln(factor) / (r/2)^b";
  vllm_row.spec.summary = "theta * factor, then inv_freq / factor^(2/r)";
  vllm_row.spec.source = "vLLM's class ntk; Su 2023, kexue.fm 9706";
  vllm_row.make = ntk_vllm;

  ScalingMethod dynamic_row;
  dynamic_row.spec.name = "dynamic_ntk";
  dynamic_row.spec.aliases = {"dynamic"};
  dynamic_row.spec.params = {factor_param(1, false, true), original_length_param(),
                             ScalingParamSpec{}};
  ScalingParamSpec& rule = dynamic_row.spec.params[2];
  rule.name = "length_rule";
  rule.kind = ParamKind::kText;
  rule.choices = {"transformers", "vllm", "unclamped"};
  rule.summary =
      "transformers (default): L = max(seq_len, M); vllm: L = M factor, once for all lengths; "
      "unclamped: L = seq_len";
  dynamic_row.spec.summary =
      "theta * (factor L / M - (factor - 1))^(r/(r-2)), M the trained length";
  dynamic_row.spec.source = "emozilla 2023, dynamic NTK; as in transformers";
  dynamic_row.make = dynamic_ntk;

  return {ntk_row, vllm_row, dynamic_row};
}

}  // namespace rope_bench
