// What config reading must know of a scaling method. The rows themselves live in math/scaling.
#ifndef ROPE_BENCH_SRC_CASE_SCALING_SPEC_H_
#define ROPE_BENCH_SRC_CASE_SCALING_SPEC_H_

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rope_bench {

enum class ParamKind { kNumber, kFlag, kList, kNumberOrList, kText };

struct ScalingParamSpec {
  std::string name;  // Hugging Face's
  ParamKind kind = ParamKind::kNumber;
  bool required = false;
  std::optional<double> default_value;
  double min = -std::numeric_limits<double>::infinity();
  bool min_exclusive = false;
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  // kText
  std::string summary;
};

struct ScalingMethodSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<ScalingParamSpec> params;
  std::vector<std::string> exactly_one_of = {};  // parameters of which one, no more, must be given
  std::string summary;                           // the formula, in one line
  std::string source;                            // who defined it
  bool implemented = true;
};

// Passed to the config reader by the caller, so that case/ does not depend on math/.
using ScalingCatalog = std::span<const ScalingMethodSpec>;

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_SCALING_SPEC_H_
