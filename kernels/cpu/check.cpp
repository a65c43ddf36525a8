#include "kernels/cpu/check.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/tuning.h"
#include "kernels/dtype.h"

namespace rope_bench {
namespace {

// The stride of an axis of size 1 means nothing.
bool same_strides(const RopeTensor& x, int64_t num_tokens) {
  return (num_tokens <= 1 || x.in_token_stride == x.out_token_stride) &&
         (x.num_heads <= 1 || x.in_head_stride == x.out_head_stride);
}

const char* shape_problem(const RopeKernelArgs& args) {
  if (args.struct_size < sizeof(RopeKernelArgs)) return "arguments of an older version";
  if (args.op != ROPE_OP_ROPE) return "only op rope is implemented";
  if (args.dtype < ROPE_DTYPE_F32 || args.dtype > ROPE_DTYPE_BF16) return "unknown dtype";
  if (args.pairing != ROPE_PAIRING_NEOX && args.pairing != ROPE_PAIRING_GPTJ) {
    return "unknown pairing";
  }
  if (args.num_tokens < 0) return "num_tokens is negative";
  if (args.head_dim < 2 || args.head_dim % 2 != 0) return "head_dim is not even and at least 2";
  if (args.rotary_dim < 2 || args.rotary_dim % 2 != 0) {
    return "rotary_dim is not even and at least 2";
  }
  if (args.rotary_dim > args.head_dim) return "rotary_dim is above head_dim";
  if (args.q.num_heads < 0 || args.k.num_heads < 0) return "a number of heads is negative";
  return nullptr;
}

// Writes what is wrong into `text`; empty if nothing is.
void describe_problem(const RopeKernelArgs& args, char* text, size_t size) {
  text[0] = 0;
  if (const char* shape = shape_problem(args)) {
    std::snprintf(text, size, "%s", shape);
    return;
  }
  for (const RopeTensor* x : {&args.q, &args.k}) {
    if (x->rotary_offset != 0) {
      std::snprintf(text, size, "rotary_offset %d is not supported yet", x->rotary_offset);
      return;
    }
    if (x->in != nullptr && in_place(*x) && !same_strides(*x, args.num_tokens)) {
      std::snprintf(text, size, "in place needs equal strides of input and output");
      return;
    }
  }
  if (args.table_dtype != ROPE_DTYPE_F32) {
    std::snprintf(text, size, "the table must be f32");
  } else if (args.table_row_stride < args.rotary_dim) {
    std::snprintf(text, size, "a table row has %lld pairs, but rotary_dim %d needs %d pairs",
                  static_cast<long long>(args.table_row_stride / 2), args.rotary_dim,
                  args.rotary_dim / 2);
  } else if (args.position_bits != 32 && args.position_bits != 64) {
    std::snprintf(text, size, "positions have %d bits instead of 32 or 64", args.position_bits);
  }
}

}  // namespace

int32_t why_not_rope(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  char text[160];
  describe_problem(*args, text, sizeof(text));
  if (text[0] == 0) return 0;
  if (reason != nullptr) std::snprintf(reason, reason_size, "%s", text);
  return 1;
}

int32_t why_not_streaming(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (const int32_t refused = why_not_rope(args, reason, reason_size)) return refused;
  if (!in_place(args->q) && !in_place(args->k)) return 0;
  if (reason != nullptr) std::snprintf(reason, reason_size, "streams out of place only");
  return 1;
}

int64_t row_bytes(const RopeKernelArgs& args) {
  const int64_t size = static_cast<int64_t>(info(static_cast<Dtype>(args.dtype)).size);
  const bool both_in_place = in_place(args.q) && in_place(args.k);
  return 2 * size * (both_in_place ? args.rotary_dim : args.head_dim);
}

int64_t row_grain(const RopeKernelArgs& args) {
  return std::max<int64_t>(1, cpu_tuning().grain_bytes / row_bytes(args));
}

}  // namespace rope_bench
