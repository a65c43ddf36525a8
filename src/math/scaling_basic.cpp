// Methods that touch each frequency by itself: none, linear, proportional, custom.
#include <cmath>

#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

Frequencies none(const RopeCase& c, const ScalingParams&) {
  return base_frequencies(c.rope.theta, c.rope.rotary_dim);
}

void divide(Frequencies* f, double factor) {
  for (long double& inv : f->exact) inv /= factor;
  for (float& inv : f->float32) inv /= static_cast<float>(factor);
}

Frequencies linear(const RopeCase& c, const ScalingParams& params) {
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  divide(&f, params.number("factor"));
  return f;
}

}  // namespace

std::vector<ScalingMethod> basic_scalings() {
  ScalingMethod none_row;
  none_row.spec.name = "none";
  none_row.spec.aliases = {"default"};
  none_row.spec.summary = "inv_freq[i] = theta^(-2i/r)";
  none_row.spec.source = "Su et al. 2021, RoFormer";
  none_row.make = none;

  ScalingMethod linear_row;
  linear_row.spec.name = "linear";
  linear_row.spec.params = {factor_param(0, true, true)};
  linear_row.spec.params[0].kind = ParamKind::kNumberOrList;
  linear_row.spec.params[0].summary =
      "divides every frequency; a list: one table per factor, one behind the other";
  linear_row.spec.summary = "inv_freq / factor";
  linear_row.spec.source = "Chen et al. 2023, position interpolation";
  linear_row.make = linear;

  ScalingMethod proportional_row;
  proportional_row.spec.name = "proportional";
  proportional_row.spec.params = {factor_param(0, true, false)};
  proportional_row.spec.params[0].default_value = 1;
  proportional_row.spec.params[0].summary = "divides every frequency";
  proportional_row.spec.summary =
      "theta^(-2i/d) / factor for i < int(partial_rotary_factor d / 2), 0 for the other pairs";
  proportional_row.spec.source = "Gemma 4 full-attention layers, as in transformers";
  proportional_row.spec.implemented = false;

  ScalingMethod custom_row;
  custom_row.spec.name = "custom";
  ScalingParamSpec inv_freq;
  inv_freq.name = "inv_freq";
  inv_freq.kind = ParamKind::kList;
  inv_freq.required = true;
  inv_freq.summary = "rotary_dim / 2 inverse frequencies in rad per position";
  custom_row.spec.params = {inv_freq, attention_factor_param()};
  custom_row.spec.params[1].default_value = 1;
  custom_row.spec.params[1].summary = "multiplies cos and sin";
  custom_row.spec.summary = "inv_freq as listed";
  custom_row.spec.source = "the user";
  custom_row.spec.implemented = false;

  return {none_row, linear_row, proportional_row, custom_row};
}

}  // namespace rope_bench
