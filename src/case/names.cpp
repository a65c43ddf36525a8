// The words that configs, results and messages use for our enumerations.
#include "src/case/result.h"
#include "src/case/rope_case.h"

namespace rope_bench {

const char* name(Op op) {
  static constexpr const char* kNames[] = {
      "rope",          "split_rope",         "norm_split_rope", "varlen_split_rope",
      "rope_backward", "split_rope_backward"};
  return kNames[static_cast<int>(op)];
}

const char* name(TableAngle angle) { return angle == TableAngle::kExact ? "exact" : "float32"; }

const char* name(PositionKind kind) {
  static constexpr const char* kNames[] = {"sequential", "decode", "random", "boundary",
                                           "explicit"};
  return kNames[static_cast<int>(kind)];
}

const char* name(DataKind kind) {
  static constexpr const char* kNames[] = {"normal", "uniform", "wide",     "subnormal",
                                           "cancel", "large",   "constant", "special"};
  return kNames[static_cast<int>(kind)];
}

const char* name(CacheMode mode) { return mode == CacheMode::kCold ? "cold" : "warm"; }

const char* name(Status status) {
  static constexpr const char* kNames[] = {"passed",        "failed",  "unchecked", "unsupported",
                                           "out_of_memory", "skipped", "error"};
  return kNames[static_cast<int>(status)];
}

const char* name(Holds holds) {
  static constexpr const char* kNames[] = {"held", "violated", "not_applicable"};
  return kNames[static_cast<int>(holds)];
}

}  // namespace rope_bench
