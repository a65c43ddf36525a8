// llama3: three bands of wavelengths.
#include "src/math/scaling_method.h"

namespace rope_bench {

std::vector<ScalingMethod> llama3_scalings() {
  ScalingMethod row;
  row.spec.name = "llama3";
  row.spec.params = {factor_param(1, false, true), factor_param(0, true, false),
                     factor_param(0, true, false), original_length_param()};
  row.spec.params[0].default_value = 8;
  row.spec.params[0].required = false;
  row.spec.params[1].name = "low_freq_factor";
  row.spec.params[1].default_value = 1;
  row.spec.params[1].summary = "wavelengths above original length / this are divided by factor";
  row.spec.params[2].name = "high_freq_factor";
  row.spec.params[2].default_value = 4;
  row.spec.params[2].summary = "wavelengths below original length / this stay as they are";
  row.spec.params[3].default_value = 8192;
  row.spec.params[3].summary = "trained length";
  row.spec.summary = "by wavelength: inv, inv/factor, between them (1 - s) inv/factor + s inv";
  row.spec.source = "Llama 3.1; as in transformers";
  row.spec.implemented = false;
  return {row};
}

}  // namespace rope_bench
