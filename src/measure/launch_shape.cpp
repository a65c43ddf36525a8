#include "src/measure/launch_shape.h"

#include "src/case/token_rows.h"
#include "src/measure/parameters.h"

namespace rope_bench {

RopeKernelArgs launch_shape(const RopeCase& c, const Operands& operands) {
  RopeKernelArgs a{};
  a.struct_size = sizeof(a);
  a.op = static_cast<int32_t>(c.op);
  a.dtype = static_cast<int32_t>(c.dtype);
  a.pairing = static_cast<int32_t>(c.rope.pairing);
  a.num_tokens = c.num_tokens();
  a.head_dim = static_cast<int32_t>(c.head_dim);
  a.rotary_dim = static_cast<int32_t>(c.rope.rotary_dim);
  RopeTensor* tensors[] = {&a.q, &a.k, &a.v};
  for (size_t i = 0; i < operands.heads.size(); ++i) {
    const OperandView &in = operands.in.views[i], &out = operands.out.views[i];
    *tensors[i] = {nullptr,
                   nullptr,
                   in.token_stride,
                   in.head_stride,
                   in.batch_stride,
                   out.token_stride,
                   out.head_stride,
                   out.batch_stride,
                   static_cast<int32_t>(operands.heads[i]),
                   0};
  }
  a.q.rotary_offset = static_cast<int32_t>(c.layout.q.rotary_offset);
  a.k.rotary_offset = static_cast<int32_t>(c.layout.k.rotary_offset);
  const auto batch_tokens = [](const Grid& grid) { return grid.batches > 1 ? grid.tokens : 0; };
  a.in_batch_tokens = batch_tokens(operands.in.grid);
  a.out_batch_tokens = batch_tokens(operands.out.grid);
  if (is_padded(c)) {
    a.padded_output = 1;
    a.out_batch_tokens = operands.out.grid.tokens;
  }
  a.position_source = position_source_of(c);
  a.num_sequences = a.position_source == ROPE_POSITIONS_CU_SEQLENS ? c.num_sequences() : 0;
  a.position_bits = c.positions.bits;
  a.table_row_stride = c.rope.rotary_dim;
  if (has_norm(c)) {
    a.norm = c.norm.span_row ? ROPE_NORM_ROW : ROPE_NORM_HEAD;
    a.norm_after = c.norm.after_rotation ? 1 : 0;
    a.round_between = c.norm.round_between ? 1 : 0;
    a.norm_eps = static_cast<float>(c.norm.eps);
    a.weight_offset = static_cast<float>(c.norm.weight_offset);
  }
  return a;
}

}  // namespace rope_bench
