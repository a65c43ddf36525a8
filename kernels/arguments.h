// Facts about the arguments of a launch, and what every variant demands of them. Refusals carry
// numbers.
#ifndef ROPE_BENCH_KERNELS_ARGUMENTS_H_
#define ROPE_BENCH_KERNELS_ARGUMENTS_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "kernels/kernel_api.h"

namespace rope_bench {

// Whether tokens are those of packed sequences: positions are looked up, and some may be padding.
inline bool is_packed(const RopeKernelArgs& args) {
  return args.op == ROPE_OP_VARLEN_SPLIT_ROPE || args.position_source != ROPE_POSITIONS_IDS;
}

inline bool in_place(const RopeTensor& tensor) { return tensor.in == tensor.out; }
// Of the operands that have heads.
inline bool all_in_place(const RopeKernelArgs& args) {
  return in_place(args.q) && in_place(args.k) && (args.v.num_heads == 0 || in_place(args.v));
}
inline bool any_in_place(const RopeKernelArgs& args) {
  return in_place(args.q) || in_place(args.k) || (args.v.num_heads != 0 && in_place(args.v));
}
inline bool is_backward(const RopeKernelArgs& args) {
  return args.op == ROPE_OP_ROPE_BACKWARD || args.op == ROPE_OP_SPLIT_ROPE_BACKWARD;
}
inline bool has_value_tensor(const RopeKernelArgs& args) {
  return args.op != ROPE_OP_ROPE && args.op != ROPE_OP_ROPE_BACKWARD;
}
// Elements of a head row that an operand spans.
inline int64_t head_width(const RopeKernelArgs& args, const RopeTensor& tensor) {
  const int64_t end = int64_t{tensor.rotary_offset} + args.rotary_dim;
  return end > args.head_dim ? end : args.head_dim;
}

// Whether a launch changes or moves anything.
inline bool has_work(const RopeKernelArgs& args, bool adds_bias) {
  const bool has_heads = args.q.num_heads > 0 || args.k.num_heads > 0 ||
                         (args.v.num_heads > 0 && (!in_place(args.v) || adds_bias));
  return args.num_tokens > 0 && has_heads;
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

namespace arguments {

inline int32_t why_not_shapes(const RopeKernelArgs& a, char* reason, size_t size) {
  if (a.dtype < ROPE_DTYPE_F32 || a.dtype > ROPE_DTYPE_BF16)
    return refuse(reason, size, "unknown dtype %d", a.dtype);
  if (a.pairing != ROPE_PAIRING_NEOX && a.pairing != ROPE_PAIRING_GPTJ)
    return refuse(reason, size, "unknown pairing %d", a.pairing);
  if (a.num_tokens < 0)
    return refuse(reason, size, "num_tokens %lld < 0", static_cast<long long>(a.num_tokens));
  if (a.head_dim < 2 || a.head_dim % 2 != 0)
    return refuse(reason, size, "head_dim %d is not even and >= 2", a.head_dim);
  if (a.rotary_dim < 2 || a.rotary_dim % 2 != 0 || a.rotary_dim > a.head_dim) {
    return refuse(reason, size, "rotary_dim %d is not even and in 2..%d", a.rotary_dim, a.head_dim);
  }
  // No heads are legal: then there is nothing to do for that tensor.
  if (a.q.num_heads < 0 || a.k.num_heads < 0 || a.v.num_heads < 0) {
    return refuse(reason, size, "%d query, %d key and %d value heads", a.q.num_heads, a.k.num_heads,
                  a.v.num_heads);
  }
  if (!has_value_tensor(a) && a.v.num_heads != 0)
    return refuse(reason, size, "%d value heads, this op has none", a.v.num_heads);
  return 0;
}

inline int32_t why_not_layout(const RopeKernelArgs& a, char* reason, size_t size) {
  if (a.in_batch_tokens < 0 || a.out_batch_tokens < 0) {
    return refuse(reason, size, "batch entries of %lld and %lld tokens",
                  static_cast<long long>(a.in_batch_tokens),
                  static_cast<long long>(a.out_batch_tokens));
  }
  const bool sequences = a.position_source == ROPE_POSITIONS_CU_SEQLENS;
  if (a.padded_output != 0 && (a.out_batch_tokens == 0 || (!sequences && a.out_rows == nullptr)))
    return refuse(reason, size, "a padded output needs out_batch_tokens and out_rows");
  for (const RopeTensor* t : {&a.q, &a.k, &a.v}) {
    if (t->rotary_offset < 0) return refuse(reason, size, "rotary_offset %d < 0", t->rotary_offset);
    if (t->in == nullptr || !in_place(*t)) continue;
    if (a.padded_output != 0) return refuse(reason, size, "a padded output cannot be in place");
    // The stride of an axis of size one means nothing.
    const bool same = (a.num_tokens <= 1 || t->in_token_stride == t->out_token_stride) &&
                      (t->num_heads <= 1 || t->in_head_stride == t->out_head_stride) &&
                      a.in_batch_tokens == a.out_batch_tokens &&
                      (a.in_batch_tokens == 0 || t->in_batch_stride == t->out_batch_stride);
    if (!same) return refuse(reason, size, "in place with unequal strides");
  }
  return 0;
}

inline int32_t why_not_positions(const RopeKernelArgs& a, bool uses_table, char* reason,
                                 size_t size) {
  if (a.position_source < ROPE_POSITIONS_IDS || a.position_source > ROPE_POSITIONS_CU_SEQLENS)
    return refuse(reason, size, "unknown source of positions %d", a.position_source);
  if (a.position_source != ROPE_POSITIONS_IDS && a.num_tokens > 0x7fffffff) {
    return refuse(reason, size, "%lld tokens: offsets and cu_seqlens are int32",
                  static_cast<long long>(a.num_tokens));
  }
  // Some are looked up with 32-bit arithmetic, in bytes.
  constexpr int64_t kMostSequences = int64_t{1} << 29;
  if (a.position_source == ROPE_POSITIONS_CU_SEQLENS &&
      (a.num_sequences < 0 || a.num_sequences > kMostSequences)) {
    return refuse(reason, size, "%lld sequences: 0 to %lld",
                  static_cast<long long>(a.num_sequences), static_cast<long long>(kMostSequences));
  }
  if (a.position_bits != 32 && a.position_bits != 64)
    return refuse(reason, size, "positions of %d bits: 32 or 64", a.position_bits);
  if (!uses_table) {
    if (a.turns == nullptr && a.num_tokens > 0)
      return refuse(reason, size, "no turns per position: needed without a table");
    return 0;
  }
  if (a.table_dtype < ROPE_DTYPE_F32 || a.table_dtype > ROPE_DTYPE_BF16)
    return refuse(reason, size, "unknown table dtype %d", a.table_dtype);
  if (a.table_row_stride < a.rotary_dim) {
    return refuse(reason, size, "table rows of %lld pairs, rotary_dim %d needs %d pairs",
                  static_cast<long long>(a.table_row_stride / 2), a.rotary_dim, a.rotary_dim / 2);
  }
  return 0;
}

inline int32_t why_not_norm(const RopeKernelArgs& a, char* reason, size_t size) {
  const bool has_norm = a.op == ROPE_OP_NORM_SPLIT_ROPE;
  if (has_norm != (a.norm != ROPE_NORM_NONE) || a.norm < ROPE_NORM_NONE || a.norm > ROPE_NORM_ROW)
    return refuse(reason, size, "norm %d of op %d", a.norm, a.op);
  if (a.bias != nullptr && (!has_value_tensor(a) || is_backward(a)))
    return refuse(reason, size, "op %d has no bias", a.op);
  if (!has_norm && a.bias == nullptr) return 0;
  constexpr float kSmallestNormal = 1.17549435e-38f;
  if (has_norm && !(a.norm_eps >= kSmallestNormal))
    return refuse(reason, size, "norm eps %g: at least %g", a.norm_eps, kSmallestNormal);
  for (const RopeTensor* t : {&a.q, &a.k}) {
    if (head_width(a, *t) > a.head_dim) {
      return refuse(reason, size,
                    "rotary_offset %d + rotary_dim %d is beyond the %d dims of a norm or bias",
                    t->rotary_offset, a.rotary_dim, a.head_dim);
    }
  }
  return 0;
}

}  // namespace arguments

// 0, or a refusal of arguments that are malformed, whatever the op: part of every
// RopeVariant::why_not.
inline int32_t why_not_any(const RopeKernelArgs* a, bool uses_table, char* reason, size_t size) {
  if (a->struct_size < sizeof(RopeKernelArgs)) {
    return refuse(reason, size, "arguments of %u bytes, this build needs %zu", a->struct_size,
                  sizeof(RopeKernelArgs));
  }
  if (a->op < ROPE_OP_ROPE || a->op > ROPE_OP_SPLIT_ROPE_BACKWARD)
    return refuse(reason, size, "unknown op %d", a->op);
  if (arguments::why_not_shapes(*a, reason, size)) return 1;
  if (arguments::why_not_layout(*a, reason, size)) return 1;
  if (arguments::why_not_positions(*a, uses_table, reason, size)) return 1;
  return arguments::why_not_norm(*a, reason, size);
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_ARGUMENTS_H_
