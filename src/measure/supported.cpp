#include "src/measure/supported.h"

#include "src/math/scaling.h"

namespace rope_bench {

std::string why_unsupported(const RopeCase& c) {
  if (const std::string reason = unsupported_scaling(c); !reason.empty()) return reason;
  if (c.rope.query_scale) {
    return "rope.query_scale multiplies queries alone and so needs a second table, which no kernel "
           "here reads";
  }
  return {};
}

}  // namespace rope_bench
