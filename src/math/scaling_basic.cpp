// Methods that touch each frequency by itself: none, linear, proportional, custom.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
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

// A list: the tables of all factors one behind the other, each max_position * factor rows long, as
// vLLM lays them out for several LoRA adapters; a token picks its factor by the offset of its rows.
Frequencies linear(const RopeCase& c, const ScalingParams& params) {
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  if (!params.is_list("factor")) {
    divide(&f, params.number("factor"));
    return f;
  }
  const std::vector<double> factors = params.list("factor", 0);
  if (factors.empty()) params.fail("factor", "an empty list, expected at least one number");
  const Frequencies plain = f;
  divide(&f, factors[0]);
  std::vector<double> offsets = {0};
  double next_row = std::ceil(max_position(c) * factors[0]);
  for (size_t i = 1; i < factors.size(); ++i) {
    Frequencies one = plain;
    divide(&one, factors[i]);
    offsets.push_back(next_row);
    f.segments.push_back({static_cast<int64_t>(next_row), 0, one.exact, one.float32});
    next_row += std::ceil(max_position(c) * factors[i]);
  }
  f.details = {{"row_offsets", offsets}};
  return f;
}

// The exponent's denominator is the whole head, and the pairs span it: pairs beyond the first n
// keep frequency 0 and so their values.
Frequencies proportional(const RopeCase& c, const ScalingParams& params) {
  const double d = static_cast<double>(c.rope.rotary_dim);
  if (!(c.rope.proportion > 0 && c.rope.proportion <= 1)) {
    throw ConfigError(
        fmt::format("rope.partial_rotary_factor: {} is not allowed, scaling proportional expects a "
                    "number above 0 and at most 1",
                    c.rope.proportion));
  }
  const size_t rotated = static_cast<size_t>(c.rope.proportion * d / 2);
  Frequencies f = base_frequencies(c.rope.theta, c.rope.rotary_dim);
  divide(&f, params.number("factor"));
  std::fill(f.exact.begin() + static_cast<ptrdiff_t>(rotated), f.exact.end(), 0.0L);
  std::fill(f.float32.begin() + static_cast<ptrdiff_t>(rotated), f.float32.end(), 0.0f);
  f.details = {{"rotated_pairs", static_cast<double>(rotated)}};
  return f;
}

Frequencies custom(const RopeCase& c, const ScalingParams& params) {
  Frequencies f;
  for (const double inv : params.list("inv_freq", c.rope.rotary_dim / 2)) {
    f.exact.push_back(inv);
    f.float32.push_back(static_cast<float>(inv));
  }
  f.attention_factor = params.number("attention_factor");
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
  proportional_row.make = proportional;

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
  custom_row.make = custom;

  return {none_row, linear_row, proportional_row, custom_row};
}

}  // namespace rope_bench
