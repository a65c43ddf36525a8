#include "src/case/rope_case.h"

namespace rope_bench {

const char* name(Op op) {
  static constexpr const char* kNames[] = {
      "rope",          "split_rope",         "norm_split_rope", "varlen_split_rope",
      "rope_backward", "split_rope_backward"};
  return kNames[static_cast<int>(op)];
}

}  // namespace rope_bench
