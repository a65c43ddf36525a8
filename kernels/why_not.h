// What every variant of op `rope` demands of its arguments. Refusals carry numbers.
#ifndef ROPE_BENCH_KERNELS_WHY_NOT_H_
#define ROPE_BENCH_KERNELS_WHY_NOT_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "kernels/kernel_api.h"

namespace rope_bench {

// Writes a refusal and returns 1.
[[gnu::format(printf, 3, 4)]] inline int32_t refuse(char* reason, size_t size, const char* format,
                                                    ...) {
  va_list values;
  va_start(values, format);
  std::vsnprintf(reason, size, format, values);
  va_end(values);
  return 1;
}

// 0, or a refusal of arguments that no variant of `rope` computes: they are malformed, or ask for
// what is not there yet.
inline int32_t why_not_rope(const RopeKernelArgs* a, char* reason, size_t size) {
  if (a->struct_size < sizeof(RopeKernelArgs)) {
    return refuse(reason, size, "arguments of %u bytes, this build needs %zu", a->struct_size,
                  sizeof(RopeKernelArgs));
  }
  if (a->op != ROPE_OP_ROPE) return refuse(reason, size, "op %d is not rope", a->op);
  if (a->dtype < ROPE_DTYPE_F32 || a->dtype > ROPE_DTYPE_BF16) {
    return refuse(reason, size, "unknown dtype %d", a->dtype);
  }
  if (a->pairing != ROPE_PAIRING_NEOX && a->pairing != ROPE_PAIRING_GPTJ) {
    return refuse(reason, size, "unknown pairing %d", a->pairing);
  }
  if (a->num_tokens < 0)
    return refuse(reason, size, "num_tokens %lld < 0", static_cast<long long>(a->num_tokens));
  if (a->rotary_dim < 2 || a->rotary_dim % 2 != 0 || a->rotary_dim > a->head_dim) {
    return refuse(reason, size, "rotary_dim %d is not even and in 2..%d", a->rotary_dim,
                  a->head_dim);
  }
  if (a->q.num_heads < 1 || a->k.num_heads < 1) {
    return refuse(reason, size, "%d query and %d key heads: at least one of each", a->q.num_heads,
                  a->k.num_heads);
  }
  if (a->q.rotary_offset != 0 || a->k.rotary_offset != 0) {
    return refuse(reason, size, "rotary_offset %d is not supported yet",
                  a->q.rotary_offset != 0 ? a->q.rotary_offset : a->k.rotary_offset);
  }
  if (a->table_dtype != ROPE_DTYPE_F32)
    return refuse(reason, size, "table.dtype other than f32 is not supported yet");
  if (a->table_row_stride < a->rotary_dim) {
    return refuse(
        reason, size, "table rows of %lld values (%lld pairs), rotary_dim %d needs %d pairs",
        static_cast<long long>(a->table_row_stride),
        static_cast<long long>(a->table_row_stride / 2), a->rotary_dim, a->rotary_dim / 2);
  }
  if (a->position_bits != 32 && a->position_bits != 64) {
    return refuse(reason, size, "positions of %d bits: 32 or 64", a->position_bits);
  }
  return 0;
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_WHY_NOT_H_
