// How a range of (token, head) rows is walked. Shared by every CPU kernel, also by those compiled
// for more than the baseline instruction set: all of it has internal linkage and includes no C++
// header, so that the linker can never hand baseline code a function that needs AVX.
#ifndef ROPE_BENCH_KERNELS_CPU_ROWS_H_
#define ROPE_BENCH_KERNELS_CPU_ROWS_H_

#include <stdint.h>

#include "kernels/kernel_api.h"

namespace rope_bench {
namespace {

// Of q and k together, per token: k's heads follow q's.
inline int64_t heads_of(const RopeKernelArgs& args) {
  return int64_t{args.q.num_heads} + args.k.num_heads;
}

// in_place() of kernels/arguments.h, without its headers.
inline bool same_place(const RopeTensor& tensor) { return tensor.in == tensor.out; }

inline int64_t position_of(const RopeKernelArgs& args, int64_t token) {
  // Byte copies: the array may be misaligned.
  if (args.position_bits == 64) {
    int64_t position;
    __builtin_memcpy(&position, static_cast<const char*>(args.positions) + token * 8, 8);
    return position;
  }
  int32_t position;
  __builtin_memcpy(&position, static_cast<const char*>(args.positions) + token * 4, 4);
  return position;
}

inline int64_t table_element_size(const RopeKernelArgs& args) {
  return args.table_dtype == ROPE_DTYPE_F32 ? 4 : 2;
}

// The table row of a token: rotary_dim / 2 cosines, then as many sines, in the table's dtype.
inline const char* table_row(const RopeKernelArgs& args, int64_t token) {
  return static_cast<const char*>(args.table) +
         position_of(args, token) * args.table_row_stride * table_element_size(args);
}

// Heads [begin, end) of one token of q or k, as addresses. Strides in bytes.
struct Heads {
  const char* in;
  char* out;
  int64_t in_stride;
  int64_t out_stride;
  int64_t count;
};

inline Heads heads_at(const RopeTensor& tensor, int64_t token, int64_t begin, int64_t end,
                      int64_t element_size) {
  const int64_t in = token * tensor.in_token_stride + begin * tensor.in_head_stride;
  const int64_t out = token * tensor.out_token_stride + begin * tensor.out_head_stride;
  return {static_cast<const char*>(tensor.in) + in * element_size,
          static_cast<char*>(tensor.out) + out * element_size, tensor.in_head_stride * element_size,
          tensor.out_head_stride * element_size, end - begin};
}

// Calls fn(token, first head, last head + 1) for each token of rows [begin, end); row = token *
// heads + head.
template <typename Fn>
inline void for_each_token(const RopeKernelArgs& args, int64_t begin, int64_t end, Fn fn) {
  const int64_t heads = heads_of(args);
  int64_t token = begin / heads;
  int64_t head = begin % heads;
  while (begin < end) {
    const int64_t head_end = head + (end - begin) < heads ? head + (end - begin) : heads;
    fn(token, head, head_end);
    begin += head_end - head;
    ++token;
    head = 0;
  }
}

// Calls fn(tensor, begin, end) for the heads of q, then of k, that [head, head_end) covers.
template <typename Fn>
inline void for_each_operand(const RopeKernelArgs& args, int64_t head, int64_t head_end, Fn fn) {
  const int64_t split = args.q.num_heads;
  if (head < split) fn(args.q, head, head_end < split ? head_end : split);
  if (head_end > split) fn(args.k, head > split ? head - split : 0, head_end - split);
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ROWS_H_
