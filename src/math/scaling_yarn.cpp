// Methods that blend by pair between the plain and the interpolated frequency: yarn, yarn_lambda.
#include "src/math/scaling_method.h"

namespace rope_bench {
namespace {

ScalingParamSpec number(const char* name, std::optional<double> default_value, double min,
                        const char* summary) {
  ScalingParamSpec p;
  p.name = name;
  p.default_value = default_value;
  p.min = min;
  p.summary = summary;
  return p;
}

}  // namespace

std::vector<ScalingMethod> yarn_scalings() {
  ScalingMethod yarn_row;
  yarn_row.spec.name = "yarn";
  yarn_row.spec.aliases = {"deepseek_yarn"};
  yarn_row.spec.params = {
      factor_param(1, false, true),
      original_length_param(),
      number("beta_fast", 32, 0, "pairs with more turns in the trained length stay as they are"),
      number("beta_slow", 1, 0, "pairs with fewer turns are interpolated"),
      number("truncate", 1, 0, "round the correction range outwards to whole pairs"),
      attention_factor_param(),
      number("mscale", std::nullopt, 0, "counts only together with mscale_all_dim"),
      number("mscale_all_dim", std::nullopt, 0, "counts only together with mscale"),
      number("extrapolation_factor", 1, 0, "multiplies the share of the plain frequency"),
      number("attn_factor", 1, 0, "multiplies the method's own attention factor"),
  };
  yarn_row.spec.params[2].min_exclusive = true;
  yarn_row.spec.params[3].min_exclusive = true;
  yarn_row.spec.params[4].kind = ParamKind::kFlag;
  yarn_row.spec.params[9].min_exclusive = true;
  yarn_row.spec.summary = "inv/factor ramp + inv (1 - ramp); cos and sin times 0.1 ln(factor) + 1";
  yarn_row.spec.source = "Peng et al. 2023, YaRN; as in transformers";
  yarn_row.spec.implemented = false;

  ScalingMethod lambda_row;
  lambda_row.spec.name = "yarn_lambda";
  lambda_row.spec.params = {factor_param(1, false, false), original_length_param(),
                            number("lambda", 0.9, 0, "share of the interpolation")};
  lambda_row.spec.params[0].summary = "infer / train; absent: max_position / original length";
  lambda_row.spec.params[2].max = 1;
  lambda_row.spec.summary = "inv (1 + (1/factor - 1) lambda) for pairs i > r/4, inv for the others";
  lambda_row.spec.source = "a simplification of YaRN met in one article; in no implementation";
  lambda_row.spec.implemented = false;

  return {yarn_row, lambda_row};
}

}  // namespace rope_bench
