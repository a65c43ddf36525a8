// Facts about the arguments of a launch, and what every variant of op `rope` demands of them.
// Refusals carry numbers.
#ifndef ROPE_BENCH_KERNELS_ARGUMENTS_H_
#define ROPE_BENCH_KERNELS_ARGUMENTS_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "kernels/kernel_api.h"

namespace rope_bench {

inline bool in_place(const RopeTensor& tensor) { return tensor.in == tensor.out; }
inline bool all_in_place(const RopeKernelArgs& args) {
  return in_place(args.q) && in_place(args.k);
}

// Writes a refusal, where `reason` is not null, and returns 1.
[[gnu::format(printf, 3, 4)]] inline int32_t refuse(char* reason, size_t size, const char* format,
                                                    ...) {
  if (reason == nullptr) return 1;
  va_list values;
  va_start(values, format);
  std::vsnprintf(reason, size, format, values);
  va_end(values);
  return 1;
}

// 0, or a refusal of arguments that no variant of `rope` computes: they are malformed, or ask for
// what is not there yet. RopeVariant::why_not.
inline int32_t why_not_rope(const RopeKernelArgs* a, char* reason, size_t size) {
  if (a->struct_size < sizeof(RopeKernelArgs)) {
    return refuse(reason, size, "arguments of %u bytes, this build needs %zu", a->struct_size,
                  sizeof(RopeKernelArgs));
  }
  if (a->op != ROPE_OP_ROPE) return refuse(reason, size, "op %d is not rope", a->op);
  if (a->dtype < ROPE_DTYPE_F32 || a->dtype > ROPE_DTYPE_BF16)
    return refuse(reason, size, "unknown dtype %d", a->dtype);
  if (a->pairing != ROPE_PAIRING_NEOX && a->pairing != ROPE_PAIRING_GPTJ) {
    return refuse(reason, size, "unknown pairing %d", a->pairing);
  }
  if (a->num_tokens < 0)
    return refuse(reason, size, "num_tokens %lld < 0", static_cast<long long>(a->num_tokens));
  if (a->head_dim < 2 || a->head_dim % 2 != 0)
    return refuse(reason, size, "head_dim %d is not even and >= 2", a->head_dim);
  if (a->rotary_dim < 2 || a->rotary_dim % 2 != 0 || a->rotary_dim > a->head_dim) {
    return refuse(reason, size, "rotary_dim %d is not even and in 2..%d", a->rotary_dim,
                  a->head_dim);
  }
  // No heads are legal: then there is nothing to do for that tensor.
  if (a->q.num_heads < 0 || a->k.num_heads < 0) {
    return refuse(reason, size, "%d query and %d key heads", a->q.num_heads, a->k.num_heads);
  }
  for (const RopeTensor* t : {&a->q, &a->k}) {
    if (t->rotary_offset != 0)
      return refuse(reason, size, "rotary_offset %d is not supported yet", t->rotary_offset);
    // The stride of an axis of size one means nothing.
    const bool same = (a->num_tokens <= 1 || t->in_token_stride == t->out_token_stride) &&
                      (t->num_heads <= 1 || t->in_head_stride == t->out_head_stride);
    if (t->in != nullptr && in_place(*t) && !same)
      return refuse(reason, size, "in place with unequal strides");
  }
  if (a->table_dtype < ROPE_DTYPE_F32 || a->table_dtype > ROPE_DTYPE_BF16)
    return refuse(reason, size, "unknown table dtype %d", a->table_dtype);
  if (a->table_row_stride < a->rotary_dim) {
    return refuse(reason, size, "table rows of %lld pairs, rotary_dim %d needs %d pairs",
                  static_cast<long long>(a->table_row_stride / 2), a->rotary_dim,
                  a->rotary_dim / 2);
  }
  if (a->position_bits != 32 && a->position_bits != 64) {
    return refuse(reason, size, "positions of %d bits: 32 or 64", a->position_bits);
  }
  return 0;
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_ARGUMENTS_H_
