// The registry: rows of all families, in the order in which they are listed.
#include "src/math/scaling.h"

#include <fmt/format.h>

#include "src/case/errors.h"
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

}  // namespace

ScalingCatalog scaling_catalog() {
  static const std::vector<ScalingMethodSpec> kSpecs = [] {
    std::vector<ScalingMethodSpec> specs;
    for (const ScalingMethod& method : methods()) specs.push_back(method.spec);
    return specs;
  }();
  return kSpecs;
}

std::string unsupported_scaling(const RopeCase& c) {
  const std::string& type = c.rope.scaling.type;
  const ScalingMethod* method = find_method(type);
  if (method == nullptr) return fmt::format("rope.scaling.type \"{}\" is not known", type);
  if (!method->spec.implemented) return fmt::format("scaling {} is not implemented yet", type);
  return method->run_needs;
}

Frequencies frequencies_of(const RopeCase& c) {
  const ScalingMethod* method = find_method(c.rope.scaling.type);
  if (method == nullptr || !method->spec.implemented) {
    throw ConfigError("rope.scaling.type: " + unsupported_scaling(c));
  }
  return method->make(c, ScalingParams(method->spec, c.rope.scaling));
}

}  // namespace rope_bench
