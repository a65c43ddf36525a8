// The scaling method that a rope_scaling object names.
#ifndef ROPE_BENCH_SRC_HF_SCALING_TYPE_H_
#define ROPE_BENCH_SRC_HF_SCALING_TYPE_H_

#include <string>

#include "src/hf/model.h"

namespace rope_bench {

struct ScalingType {
  std::string method = "none";  // native, canonical
  std::string written;          // as in the file; empty: nowhere
  Trace at;                     // of the word
};

// Throws ConfigError for an unknown word, for `type` and `rope_type` that disagree and for
// parameters without a type.
ScalingType read_scaling_type(Model& model, RopeSet& set);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_SCALING_TYPE_H_
