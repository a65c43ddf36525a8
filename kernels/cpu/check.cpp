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

const char* problem(const RopeKernelArgs& args) {
  if (const char* text = shape_problem(args)) return text;
  if (args.q.rotary_offset != 0 || args.k.rotary_offset != 0) {
    return "rotary_offset is not supported yet";
  }
  if (args.table_dtype != ROPE_DTYPE_F32) return "the table must be f32";
  if (args.table_rows > 1 && args.table_row_stride < args.rotary_dim) {
    return "table rows are shorter than rotary_dim";
  }
  if (args.position_bits != 32 && args.position_bits != 64) return "position_bits is not 32 or 64";
  for (const RopeTensor* x : {&args.q, &args.k}) {
    if (x->in != nullptr && in_place(*x) && !same_strides(*x, args.num_tokens)) {
      return "in place needs equal strides of input and output";
    }
  }
  return nullptr;
}

int32_t answer(const char* text, char* reason, size_t reason_size) {
  if (text == nullptr) return 0;
  if (reason != nullptr && reason_size > 0) std::snprintf(reason, reason_size, "%s", text);
  return 1;
}

}  // namespace

int32_t why_not_rope(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  return answer(problem(*args), reason, reason_size);
}

int32_t why_not_streaming(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  const char* text = problem(*args);
  if (text == nullptr && (in_place(args->q) || in_place(args->k))) {
    text = "non-temporal stores do not pay in place";
  }
  return answer(text, reason, reason_size);
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
