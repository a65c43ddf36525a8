// longrope: one factor per pair, from one of two lists.
#include <cmath>

#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

ScalingParamSpec factor_list(const char* name, const char* summary) {
  ScalingParamSpec p;
  p.name = name;
  p.kind = ParamKind::kList;
  p.required = true;
  p.min = 0;
  p.min_exclusive = true;
  p.summary = summary;
  return p;
}

ScalingParamSpec magnitude(const char* name, const char* summary) {
  ScalingParamSpec p = attention_factor_param();
  p.name = name;
  p.summary = summary;
  return p;
}

Frequencies with_list(const RopeCase& c, const std::vector<double>& factors) {
  Frequencies f;
  f.exact = base_exact(c.rope.theta, c.rope.rotary_dim, c.rope.rotary_dim / 2);
  const std::vector<float> powers =
      base_powers(c.rope.theta, c.rope.rotary_dim, c.rope.rotary_dim / 2);
  for (size_t i = 0; i < factors.size(); ++i) {
    f.exact[i] /= factors[i];
    f.float32.push_back(1.0f / (static_cast<float>(factors[i]) * powers[i]));
  }
  return f;
}

// sqrt(1 + ln s / ln original), s = factor if given, else max_position / original; 1 if s <= 1.
double own_magnitude(const RopeCase& c, const ScalingParams& params, double original) {
  const std::optional<double> factor = params.find("factor");
  const double s = factor ? *factor : max_position(c) / original;
  if (s <= 1) return 1;
  if (original <= 1) {
    params.fail("original_max_position_embeddings", "1 is not allowed, its logarithm divides");
  }
  return std::sqrt(1 + std::log(s) / std::log(original));
}

Frequencies longrope(const RopeCase& c, const ScalingParams& params) {
  const std::vector<double> short_list = params.list("short_factor", c.rope.rotary_dim / 2);
  const std::vector<double> long_list = params.list("long_factor", c.rope.rotary_dim / 2);
  const double original = original_length(c, params);
  const std::string rule = params.text("list_rule");
  const std::optional<double> given = params.find("attention_factor");

  if (rule == "per_position") {
    Frequencies f = with_list(c, short_list);
    const Frequencies beyond = with_list(c, long_list);
    const int64_t first = static_cast<int64_t>(original);
    f.segments = {{first, first, beyond.exact, beyond.float32}};
    f.attention_factor = given.value_or(1.0);  // that implementation has no magnitude
    f.details = {{"list", "short below the trained length, long from it on"}};
    return f;
  }
  const double length = rule == "configured" ? max_position(c) : static_cast<double>(seq_len_of(c));
  const bool is_long = length > original;
  Frequencies f = with_list(c, is_long ? long_list : short_list);
  const std::optional<double> listed = params.find(is_long ? "long_mscale" : "short_mscale");
  f.attention_factor = given ? *given : listed ? *listed : own_magnitude(c, params, original);
  f.details = {{"list", is_long ? "long" : "short"}, {"length", length}};
  return f;
}

}  // namespace

std::vector<ScalingMethod> longrope_scalings() {
  ScalingMethod row;
  row.spec.name = "longrope";
  row.spec.aliases = {"su"};
  row.spec.params = {
      factor_list("short_factor", "rotary_dim / 2 factors up to the trained length"),
      factor_list("long_factor", "rotary_dim / 2 factors beyond it"),
      factor_param(1, false, false),
      original_length_param(),
      attention_factor_param(),
      magnitude("short_mscale", "attention factor where the short list is chosen"),
      magnitude("long_mscale", "attention factor where the long list is chosen"),
      ScalingParamSpec{},
  };
  row.spec.params[2].summary = "stretch in the attention factor; absent: max_position / original";
  ScalingParamSpec& rule = row.spec.params[7];
  rule.name = "list_rule";
  rule.kind = ParamKind::kText;
  rule.choices = {"current", "configured", "per_position"};
  rule.summary =
      "long list if seq_len (current, default) or max_position (configured) exceeds the trained "
      "length; per_position: short rows below it, long rows from it on, factor 1";
  row.spec.summary = "1 / (list[i] theta^(2i/r)); cos and sin times sqrt(1 + ln s / ln original)";
  row.spec.source = "Ding et al. 2024, LongRoPE; as in transformers";
  row.make = longrope;
  return {row};
}

}  // namespace rope_bench
