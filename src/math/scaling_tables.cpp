// Methods that need more than one table per token: fope, dual_chunk.
#include "src/math/scaling_method.h"

namespace rope_bench {

std::vector<ScalingMethod> table_scalings() {
  ScalingMethod fope_row;
  fope_row.spec.name = "fope";
  ScalingParamSpec kept;
  kept.name = "num_inv_freq";
  kept.min = 0;
  kept.summary = "frequencies kept; absent: those above 2 pi / max_position";
  ScalingParamSpec coefficients;
  coefficients.name = "coefficients";
  coefficients.kind = ParamKind::kText;
  coefficients.summary = "learned mixing matrices: identity (default), seeded, or a .npy file";
  fope_row.spec.params = {kept, coefficients};
  fope_row.spec.summary =
      "the highest frequencies, mixed per kv head by learned matrices; the others do not rotate";
  fope_row.spec.source = "Hua et al. 2024, FoPE; as in vLLM";
  fope_row.spec.implemented = false;
  fope_row.run_needs = "scaling fope needs one table per kv head, which no kernel here reads";

  ScalingMethod chunk_row;
  chunk_row.spec.name = "dual_chunk";
  ScalingParamSpec chunk;
  chunk.name = "chunk_size";
  chunk.min = 1;
  chunk.required = true;
  chunk.summary = "positions per chunk";
  ScalingParamSpec local;
  local.name = "local_size";
  local.min = 0;
  local.default_value = 0;
  local.summary = "positions shared with the chunk before";
  chunk_row.spec.params = {chunk, local};
  chunk_row.spec.summary = "frequencies of none; five tables by position within and between chunks";
  chunk_row.spec.source = "An et al. 2024, dual chunk attention; as in vLLM";
  chunk_row.spec.implemented = false;
  chunk_row.run_needs = "scaling dual_chunk needs five tables, which no kernel here reads";

  return {fope_row, chunk_row};
}

}  // namespace rope_bench
