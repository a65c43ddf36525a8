#include "src/measure/supported.h"

#include "src/math/scaling.h"

namespace rope_bench {

std::string why_unsupported(const RopeCase& c) {
  if (c.op != Op::kRope) return std::string("op ") + name(c.op) + " is not implemented yet";
  if (const std::string reason = unsupported_scaling(c); !reason.empty()) return reason;
  if (c.rope.query_scale) {
    return "rope.query_scale multiplies queries alone and so needs a second table, which no kernel "
           "here reads";
  }
  if (c.layout.heads_tokens_dim) return "layout.order heads_tokens_dim is not implemented yet";
  if (c.layout.q.rotary_offset != 0 || c.layout.k.rotary_offset != 0) {
    return "layout rotary_offset " +
           std::to_string(c.layout.q.rotary_offset != 0 ? c.layout.q.rotary_offset
                                                        : c.layout.k.rotary_offset) +
           " is not implemented yet";
  }
  if (c.qkv_bias) return "qkv_bias belongs to the split ops, which are not implemented yet";
  if (c.norm.given) return "norm belongs to norm_split_rope, which is not implemented yet";
  if (c.varlen.given || !c.seq_lens.empty()) {
    return "seq_lens and varlen belong to varlen_split_rope, which is not implemented yet";
  }
  if (c.measure.timeout_s) return "measure.timeout_s is not implemented yet";
  return {};
}

}  // namespace rope_bench
