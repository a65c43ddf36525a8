// Methods that change the base: ntk, ntk_vllm, dynamic_ntk.
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

Frequencies ntk(const RopeCase& c, const ScalingParams& params) {
  const std::optional<double> factor = params.find("factor");
  const std::optional<double> alpha = params.find("alpha");
  if (factor && alpha) params.fail("alpha", "given beside factor, expected one of the two");
  if (!factor && !alpha) params.fail("factor", "is missing (or alpha)");
  const long double s = factor ? *factor : *alpha;
  const long double theta = c.rope.theta * std::pow(s, base_exponent(c));
  Frequencies f = base_frequencies(theta, c.rope.rotary_dim);
  f.details = {{"base", static_cast<double>(theta)}};
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
  vllm_row.spec.implemented = false;

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
  dynamic_row.spec.implemented = false;

  return {ntk_row, vllm_row, dynamic_row};
}

}  // namespace rope_bench
