// How a range of (token, head) rows is walked, and where rows lie. Shared by every CPU kernel, also
// by those compiled for more than the baseline instruction set: all of it has internal linkage and
// includes no C++ header, so that the linker can never hand baseline code a function that needs
// AVX.
#ifndef ROPE_BENCH_KERNELS_CPU_ROWS_H_
#define ROPE_BENCH_KERNELS_CPU_ROWS_H_

#include <stdint.h>

#include "kernels/kernel_api.h"

namespace rope_bench {
namespace {

// Functions of kernels/arguments.h, without its headers.
inline bool same_place(const RopeTensor& tensor) { return tensor.in == tensor.out; }
inline bool turns_back(const RopeKernelArgs& args) {
  return args.op == ROPE_OP_ROPE_BACKWARD || args.op == ROPE_OP_SPLIT_ROPE_BACKWARD;
}
inline int64_t row_width(const RopeKernelArgs& args, const RopeTensor& tensor) {
  const int64_t end = int64_t{tensor.rotary_offset} + args.rotary_dim;
  return end > args.head_dim ? end : args.head_dim;
}

// Whether dims that pass through a rotation change, too.
inline bool changes_all_dims(const RopeKernelArgs& args) {
  return args.bias != nullptr || args.norm != ROPE_NORM_NONE;
}

// Heads of v that move: in place only where a bias changes them.
inline int64_t value_heads(const RopeKernelArgs& args) {
  return same_place(args.v) && args.bias == nullptr ? 0 : args.v.num_heads;
}
// Heads of q, k and v together, per token: in this order.
inline int64_t heads_of(const RopeKernelArgs& args) {
  return int64_t{args.q.num_heads} + args.k.num_heads + value_heads(args);
}

// An element of an array that may be misaligned.
template <typename T>
inline T element(const void* array, int64_t index) {
  T value;
  __builtin_memcpy(&value, static_cast<const char*>(array) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}
inline int64_t position_element(const RopeKernelArgs& args, const void* array, int64_t index) {
  return args.position_bits == 64 ? element<int64_t>(array, index) : element<int32_t>(array, index);
}

struct Token {
  int64_t index;     // and row of the inputs
  int64_t position;  // negative: padding
  int64_t out_row;
};

// Tokens from `first` on, asked for in ascending order.
class Tokens {
 public:
  Tokens(const RopeKernelArgs& args, int64_t first) : args_(args) {
    if (args.position_source != ROPE_POSITIONS_CU_SEQLENS) return;
    int64_t last = args.num_sequences;
    while (sequence_ < last) {  // the last that begins at or before it: empty ones lie before
      const int64_t middle = (sequence_ + last + 1) / 2;
      if (begin_of(middle) <= first) {
        sequence_ = middle;
      } else {
        last = middle - 1;
      }
    }
  }

  Token at(int64_t token) {
    Token t{token, 0, args_.out_rows != nullptr ? element<int32_t>(args_.out_rows, token) : token};
    if (args_.position_source == ROPE_POSITIONS_IDS) {
      t.position = position_element(args_, args_.positions, token);
    } else if (args_.position_source == ROPE_POSITIONS_OFFSET) {
      t.position = token + element<int32_t>(args_.positions, token);
    } else {
      place_in_sequence(t);
    }
    return t;
  }

 private:
  int64_t begin_of(int64_t sequence) const { return element<int32_t>(args_.positions, sequence); }

  void place_in_sequence(Token& t) {
    while (sequence_ < args_.num_sequences && begin_of(sequence_ + 1) <= t.index) ++sequence_;
    if (sequence_ == args_.num_sequences) {
      t.position = -1;
      return;
    }
    const int64_t place = t.index - begin_of(sequence_);
    if (place < 0) {  // before the first
      t.position = -1;
      return;
    }
    const void* starts = args_.sequence_starts;
    t.position = place + (starts == nullptr ? 0 : element<int32_t>(starts, sequence_));
    if (args_.padded_output != 0 && args_.out_rows == nullptr)
      t.out_row = sequence_ * args_.out_batch_tokens + place;
  }

  const RopeKernelArgs& args_;
  int64_t sequence_ = 0;
};

inline int64_t table_element_size(const RopeKernelArgs& args) {
  return args.table_dtype == ROPE_DTYPE_F32 ? 4 : 2;
}

// The table row of a token: rotary_dim / 2 cosines, then as many sines, in the table's dtype. Null
// without a table.
inline const char* table_row(const RopeKernelArgs& args, const Token& token) {
  if (args.table == nullptr) return nullptr;
  return static_cast<const char*>(args.table) +
         token.position * args.table_row_stride * table_element_size(args);
}

// Heads of one token and operand, as addresses. Strides in bytes.
struct Heads {
  const char* in;
  char* out;
  int64_t in_stride;
  int64_t out_stride;
  int64_t count;

  // The same `bytes` further on in every head.
  Heads behind(int64_t bytes) const {
    return {in + bytes, out + bytes, in_stride, out_stride, count};
  }
};

// Elements up to a row.
inline int64_t row_offset(int64_t row, int64_t batch_tokens, int64_t token_stride,
                          int64_t batch_stride) {
  if (batch_tokens == 0) return row * token_stride;
  const int64_t batch = row / batch_tokens;
  return batch * batch_stride + (row - batch * batch_tokens) * token_stride;
}

// Heads [begin, end) of a token, from element `first` of each head on.
inline Heads heads_at(const RopeKernelArgs& args, const RopeTensor& x, const Token& token,
                      int64_t begin, int64_t end, int64_t element_size, int64_t first = 0) {
  const int64_t to =
      row_offset(token.out_row, args.out_batch_tokens, x.out_token_stride, x.out_batch_stride) +
      begin * x.out_head_stride + first;
  char* out = static_cast<char*>(x.out) + to * element_size;
  const int64_t out_stride = x.out_head_stride * element_size;
  // In place the output's strides are those of both, also where rows are padded in between.
  if (same_place(x)) return {out, out, out_stride, out_stride, end - begin};
  const int64_t from =
      row_offset(token.index, args.in_batch_tokens, x.in_token_stride, x.in_batch_stride) +
      begin * x.in_head_stride + first;
  return {static_cast<const char*>(x.in) + from * element_size, out,
          x.in_head_stride * element_size, out_stride, end - begin};
}

// Calls fn(token, first head, last head + 1) for each token of rows [begin, end) but padding; row =
// token * heads + head.
template <typename Fn>
inline void for_each_token(const RopeKernelArgs& args, int64_t begin, int64_t end, Fn fn) {
  const int64_t heads = heads_of(args);
  int64_t index = begin / heads;
  int64_t head = begin % heads;
  Tokens tokens(args, index);
  while (begin < end) {
    const int64_t head_end = head + (end - begin) < heads ? head + (end - begin) : heads;
    const Token token = tokens.at(index);
    if (token.position >= 0) fn(token, head, head_end);
    begin += head_end - head;
    ++index;
    head = 0;
  }
}

// Calls fn(tensor, begin, end) for the heads of q, then of k, then of v, that [head, head_end)
// covers.
template <typename Fn>
inline void for_each_operand(const RopeKernelArgs& args, int64_t head, int64_t head_end, Fn fn) {
  const int64_t k = args.q.num_heads, v = k + args.k.num_heads;  // where they begin
  if (head < k) fn(args.q, head, head_end < k ? head_end : k);
  if (head < v && head_end > k)
    fn(args.k, head > k ? head - k : 0, (head_end < v ? head_end : v) - k);
  if (head_end > v) fn(args.v, head > v ? head - v : 0, head_end - v);
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ROWS_H_
