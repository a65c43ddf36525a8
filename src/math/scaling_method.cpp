#include "src/math/scaling_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/errors.h"
#include "src/math/angles.h"

namespace rope_bench {

const ScalingValue* ScalingParams::value(const std::string& name) const {
  const auto found = scaling_.params.find(name);
  return found == scaling_.params.end() ? nullptr : &found->second;
}

const ScalingParamSpec& ScalingParams::param(const std::string& name) const {
  const auto found = std::find_if(spec_.params.begin(), spec_.params.end(),
                                  [&](const ScalingParamSpec& p) { return p.name == name; });
  if (found == spec_.params.end()) {
    throw DeviceError(fmt::format("scaling {} has no parameter {}", spec_.name, name));
  }
  return *found;
}

void ScalingParams::fail(const std::string& name, const std::string& what) const {
  throw ConfigError(fmt::format("rope.scaling.{}: {} (scaling {})", name, what, spec_.name));
}

std::optional<double> ScalingParams::find(const std::string& name) const {
  const ScalingParamSpec& spec = param(name);
  const ScalingValue* given = value(name);
  if (given == nullptr) return spec.default_value;
  const double* number = std::get_if<double>(given);
  if (number == nullptr) fail(name, "expected a number");
  const bool too_small = spec.min_exclusive ? *number <= spec.min : *number < spec.min;
  if (!std::isfinite(*number) || too_small || *number > spec.max) {
    fail(name, fmt::format("{} is not allowed, expected a number {} {}", *number,
                           spec.min_exclusive ? "above" : "of at least", spec.min));
  }
  return *number;
}

double ScalingParams::number(const std::string& name) const {
  const std::optional<double> found = find(name);
  if (!found) fail(name, "is missing");
  return *found;
}

bool ScalingParams::flag(const std::string& name) const {
  const ScalingParamSpec& spec = param(name);
  const ScalingValue* given = value(name);
  if (given == nullptr) return spec.default_value.value_or(0) != 0;
  const bool* on = std::get_if<bool>(given);
  if (on == nullptr) fail(name, "expected true or false");
  return *on;
}

std::string ScalingParams::text(const std::string& name) const {
  const ScalingParamSpec& spec = param(name);
  const ScalingValue* given = value(name);
  if (given == nullptr) return {};
  const std::string* word = std::get_if<std::string>(given);
  if (word == nullptr) fail(name, "expected a string");
  if (!spec.choices.empty() &&
      std::find(spec.choices.begin(), spec.choices.end(), *word) == spec.choices.end()) {
    fail(name, fmt::format("\"{}\" is not known, expected one of: {}", *word,
                           fmt::join(spec.choices, ", ")));
  }
  return *word;
}

bool ScalingParams::is_list(const std::string& name) const {
  const ScalingValue* given = value(name);
  return given != nullptr && std::holds_alternative<std::vector<double>>(*given);
}

std::vector<double> ScalingParams::list(const std::string& name, int64_t length) const {
  const ScalingParamSpec& spec = param(name);
  const ScalingValue* given = value(name);
  if (given == nullptr) {
    if (spec.required) fail(name, "is missing");
    return {};
  }
  const auto* values = std::get_if<std::vector<double>>(given);
  if (values == nullptr) fail(name, "expected a list of numbers");
  if (length > 0 && static_cast<int64_t>(values->size()) != length) {
    fail(name,
         fmt::format("{} values given, expected rotary_dim / 2 = {}", values->size(), length));
  }
  for (const double v : *values) {
    const bool too_small = spec.min_exclusive ? v <= spec.min : v < spec.min;
    if (!std::isfinite(v) || too_small) fail(name, fmt::format("{} is not allowed in the list", v));
  }
  return *values;
}

NamedRow named_row(std::string name, const RopeCase& c, const Frequencies& f, TableAngle angle,
                   const std::vector<int64_t>& at) {
  NamedRow row{std::move(name), at.at(0), std::vector<double>(f.exact.size()),
               std::vector<double>(f.exact.size())};
  AngleRows(f, angle, row_rule_at(c, at)).row(0, row.cosines.data(), row.sines.data());
  return row;
}

std::vector<long double> base_exact(long double theta, int64_t n, int64_t pairs) {
  std::vector<long double> result;
  for (int64_t i = 0; i < pairs; ++i) {
    result.push_back(
        std::pow(theta, -static_cast<long double>(2 * i) / static_cast<long double>(n)));
  }
  return result;
}

float pow_float32(float x, float y) {
  return static_cast<float>(std::pow(static_cast<long double>(x), static_cast<long double>(y)));
}

std::vector<float> base_powers(double theta, int64_t n, int64_t pairs) {
  std::vector<float> result;
  for (int64_t i = 0; i < pairs; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(n);
    result.push_back(pow_float32(static_cast<float>(theta), exponent));
  }
  return result;
}

Frequencies base_frequencies(long double theta, int64_t rotary_dim) {
  Frequencies f;
  f.exact = base_exact(theta, rotary_dim, rotary_dim / 2);
  for (const float p : base_powers(static_cast<double>(theta), rotary_dim, rotary_dim / 2)) {
    f.float32.push_back(1.0f / p);
  }
  return f;
}

double max_position(const RopeCase& c) {
  if (!c.max_position) {
    throw ConfigError(fmt::format("model.max_position is missing: scaling {} depends on it",
                                  c.rope.scaling.type));
  }
  return static_cast<double>(*c.max_position);
}

double original_length(const RopeCase& c, const ScalingParams& params) {
  const std::optional<double> given = params.find("original_max_position_embeddings");
  return given ? *given : max_position(c);
}

ScalingParamSpec factor_param(double min, bool exclusive, bool required) {
  ScalingParamSpec p;
  p.name = "factor";
  p.required = required;
  p.min = min;
  p.min_exclusive = exclusive;
  p.summary = "by how much the context is stretched";
  return p;
}

ScalingParamSpec original_length_param() {
  ScalingParamSpec p;
  p.name = "original_max_position_embeddings";
  p.min = 1;
  p.summary = "trained length; absent: model.max_position";
  return p;
}

ScalingParamSpec attention_factor_param() {
  ScalingParamSpec p;
  p.name = "attention_factor";
  p.min = 0;
  p.min_exclusive = true;
  p.summary = "multiplies cos and sin; given, it wins over the method's own";
  return p;
}

}  // namespace rope_bench
