// longrope: one factor per pair, from one of two lists.
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
  row.spec.implemented = false;
  return {row};
}

}  // namespace rope_bench
