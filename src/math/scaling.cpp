// The registry: rows of all families, in the order in which they are listed.
#include "src/math/scaling.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "src/case/axes.h"
#include "src/case/errors.h"
#include "src/math/angles.h"
#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

const std::vector<ScalingMethod>& methods() {
  static const std::vector<ScalingMethod> kMethods = [] {
    std::vector<ScalingMethod> all;
    for (auto family : {basic_scalings, ntk_scalings, yarn_scalings, llama3_scalings,
                        longrope_scalings, table_scalings}) {
      for (ScalingMethod& method : family()) all.push_back(std::move(method));
    }
    return all;
  }();
  return kMethods;
}

// By canonical name or alias: cases built by hand may carry either.
const ScalingMethod* find_method(const std::string& type) {
  for (const ScalingMethod& method : methods()) {
    if (method.spec.name == type) return &method;
    for (const std::string& alias : method.spec.aliases) {
      if (alias == type) return &method;
    }
  }
  return nullptr;
}

// Whatever the parameters: never a NaN in a table.
void require_finite(const std::vector<long double>& exact, const std::vector<float>& float32) {
  for (size_t i = 0; i < exact.size(); ++i) {
    if (std::isfinite(exact[i]) && std::isfinite(float32[i])) continue;
    throw ConfigError(fmt::format(
        "rope.theta: the frequency of pair {} is not a finite number: theta or the scaling "
        "parameters are too large or too small",
        i));
  }
}

}  // namespace

ScalingCatalog scaling_catalog() {
  static const std::vector<ScalingMethodSpec> kSpecs = [] {
    std::vector<ScalingMethodSpec> specs;
    for (const ScalingMethod& method : methods()) specs.push_back(method.spec);
    return specs;
  }();
  return kSpecs;
}

std::string unknown_scaling(const RopeCase& c) {
  const std::string& type = c.rope.scaling.type;
  const ScalingMethod* method = find_method(type);
  if (method == nullptr) return fmt::format("rope.scaling.type \"{}\" is not known", type);
  if (!method->spec.implemented) return fmt::format("scaling {} is not implemented yet", type);
  return {};
}

std::string unsupported_scaling(const RopeCase& c) {
  const std::string unknown = unknown_scaling(c);
  return unknown.empty() ? find_method(c.rope.scaling.type)->run_needs : unknown;
}

namespace {

// vision_2d: a rotation of half the dims for each axis, both with the same frequencies.
Frequencies twice(Frequencies f) {
  const auto repeat = [](auto* list) {
    const auto once = *list;
    list->insert(list->end(), once.begin(), once.end());
  };
  repeat(&f.exact);
  repeat(&f.float32);
  for (FrequencySegment& segment : f.segments) {
    repeat(&segment.exact);
    repeat(&segment.float32);
  }
  return f;
}

Frequencies make(const RopeCase& c, const ScalingMethod& method) {
  const ScalingParams params(method.spec, c.rope.scaling);
  if (c.rope.axes.kind != "vision_2d") return method.make(c, params);
  RopeCase half = c;
  half.rope.rotary_dim = 2 * scaled_pairs(c);
  return twice(method.make(half, params));
}

}  // namespace

Frequencies frequencies_of(const RopeCase& c) {
  const ScalingMethod* method = find_method(c.rope.scaling.type);
  if (method == nullptr || method->make == nullptr) {
    throw ConfigError("rope.scaling.type: " + unknown_scaling(c));
  }
  Frequencies f = make(c, *method);
  require_finite(f.exact, f.float32);
  for (const FrequencySegment& segment : f.segments) require_finite(segment.exact, segment.float32);
  // Above it cos and sin would be infinite in the table.
  if (!(std::abs(f.attention_factor) <= std::numeric_limits<float>::max())) {
    throw ConfigError(
        fmt::format("rope.scaling.attention_factor: {} is not allowed, expected a "
                    "float32 number: it multiplies cos and sin",
                    f.attention_factor));
  }
  return f;
}

std::vector<NamedRow> named_rows(const RopeCase& c, TableAngle angle,
                                 const std::vector<int64_t>& at) {
  const Frequencies f = frequencies_of(c);
  const ScalingMethod* method = find_method(c.rope.scaling.type);
  if (method->rows != nullptr) {
    if (c.rope.axes.kind == "vision_2d") {
      throw ConfigError(fmt::format("rope.axes.kind: vision_2d does not go with scaling {}",
                                    c.rope.scaling.type));
    }
    return method->rows(c, ScalingParams(method->spec, c.rope.scaling), angle, at);
  }
  return {named_row("table", c, f, angle, at)};
}

std::vector<NamedRow> named_rows(const RopeCase& c, TableAngle angle, int64_t position) {
  return named_rows(c, angle,
                    std::vector<int64_t>(static_cast<size_t>(num_axes(c.rope.axes)), position));
}

}  // namespace rope_bench
