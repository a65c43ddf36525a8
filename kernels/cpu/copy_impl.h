// The limit kernels: what an op moves, and no arithmetic. Written once over the interface
// `Simd`; the translation unit includes the simd_*.h of its instruction set first.
//
// Formula    out = in.
// Shapes     those of the op, walked the same way; runs of heads without gaps are one run.
// Numbers    bytes, whatever the dtype.
// Mapping    blocks of a register, four at a time, cached or streamed past the caches; positions
//            and table rows are read and dropped.
// Limits     none.
// Bytes      those of the op: rotated dims in place, whole heads out of place or with a norm or
//            bias. Bias and weights are read once per range of a thread.
// Source     own.
#ifndef ROPE_BENCH_KERNELS_CPU_COPY_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_COPY_IMPL_H_

#include "kernels/cpu/rows.h"

namespace rope_bench {
namespace {

template <typename Word>
inline void copy_word(const char* in, char* out) {
  Word word;
  __builtin_memcpy(&word, in, sizeof(word));
  asm volatile("" : "+r"(word));
  __builtin_memcpy(out, &word, sizeof(word));
}

inline void copy_words(const char* in, char* out, int64_t bytes) {
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) copy_word<uint64_t>(in + i, out + i);
  for (; i < bytes; ++i) copy_word<uint8_t>(in + i, out + i);
}

// Loads every byte and stores every byte, also where in == out. Always inlined: a call would cost
// the loops around it their vector registers.
template <bool kStream>
[[gnu::always_inline]] inline void copy_bytes(const char* in, char* out, int64_t bytes) {
  constexpr int64_t kStep = Simd::kBlockBytes;
  if constexpr (kStream) {  // up to the first whole block
    const int64_t behind = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kStep);
    int64_t head = behind == 0 ? 0 : kStep - behind;
    if (head > bytes) head = bytes;
    copy_words(in, out, head);
    in += head, out += head, bytes -= head;
  }
  int64_t i = 0;
  for (; i + 4 * kStep <= bytes; i += 4 * kStep) {
    Simd::Block a = Simd::load_block(in + i), b = Simd::load_block(in + i + kStep);
    Simd::Block c = Simd::load_block(in + i + 2 * kStep), d = Simd::load_block(in + i + 3 * kStep);
    Simd::keep(a), Simd::keep(b), Simd::keep(c), Simd::keep(d);
    Simd::store_block<kStream>(out + i, a);
    Simd::store_block<kStream>(out + i + kStep, b);
    Simd::store_block<kStream>(out + i + 2 * kStep, c);
    Simd::store_block<kStream>(out + i + 3 * kStep, d);
  }
  for (; i + kStep <= bytes; i += kStep) {
    Simd::Block block = Simd::load_block(in + i);
    Simd::keep(block);
    Simd::store_block<kStream>(out + i, block);
  }
  copy_words(in + i, out + i, bytes - i);
}

inline void read_bytes(const char* in, int64_t bytes) {
  int64_t i = 0;
  for (; i + Simd::kBlockBytes <= bytes; i += Simd::kBlockBytes) {
    Simd::Block block = Simd::load_block(in + i);
    Simd::keep(block);
  }
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, in + i, 8);
    asm volatile("" : "+r"(word));
  }
  for (; i < bytes; i += 4) {  // a row is an even number of elements
    uint32_t word;
    __builtin_memcpy(&word, in + i, 4);
    asm volatile("" : "+r"(word));
  }
}

// The first `bytes` of each head.
template <bool kStream>
inline void copy_heads(Heads heads, int64_t bytes) {
  if (heads.in_stride == bytes && heads.out_stride == bytes) {  // one run
    bytes *= heads.count;
    heads.count = 1;
  }
  for (int64_t h = 0; h < heads.count; ++h) {
    copy_bytes<kStream>(heads.in + h * heads.in_stride, heads.out + h * heads.out_stride, bytes);
  }
}

// The limit: the same rows, table rows and positions as the op's, moved as bytes.
template <bool kStream>
void copy_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  const int64_t size = args.dtype == ROPE_DTYPE_F32 ? 4 : 2;
  const auto read = [&](const void* values, int64_t count) {
    if (values != nullptr) read_bytes(static_cast<const char*>(values), count * size);
  };
  const bool all_heads = args.norm == ROPE_NORM_ROW;
  read(args.bias,
       (int64_t{args.q.num_heads} + args.k.num_heads + args.v.num_heads) * args.head_dim);
  read(args.q_weight, (all_heads ? args.q.num_heads : 1) * int64_t{args.head_dim});
  read(args.k_weight, (all_heads ? args.k.num_heads : 1) * int64_t{args.head_dim});
  for_each_token(args, begin, end, [&](const Token& token, int64_t head, int64_t head_end) {
    const char* row = table_row(args, token);
    if (row != nullptr) read_bytes(row, args.rotary_dim * table_element_size(args));
    for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
      const Heads heads = heads_at(args, x, token, first, last, size);
      if (&x == &args.v) {
        copy_heads<kStream>(heads, args.head_dim * size);
      } else if (same_place(x) && !changes_all_dims(args)) {
        copy_heads<kStream>(heads.behind(x.rotary_offset * size), args.rotary_dim * size);
      } else {
        copy_heads<kStream>(heads, row_width(args, x) * size);
      }
    });
  });
  if constexpr (kStream) Simd::finish_stream();
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_COPY_IMPL_H_
