// The limit kernels: what a rotation moves, and no arithmetic. Written once over the interface
// `Simd`; the translation unit includes the simd_*.h of its instruction set first.
//
// Formula    out = in.
// Shapes     those of op rope, walked the same way; runs of heads without gaps are one run.
// Numbers    bytes, whatever the dtype.
// Mapping    blocks of a register, four at a time, cached or streamed past the caches; positions
//            and table rows are read and dropped.
// Limits     rotary_offset 0.
// Bytes      those of op rope: rotated dims in place, whole heads out of place.
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

// Loads every byte and stores every byte, also where in == out.
template <bool kStream>
inline void copy_bytes(const char* in, char* out, int64_t bytes) {
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

// The limit: the same rows, table rows and positions as rotate_rows, moved as bytes.
template <bool kStream>
void copy_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  const int64_t size = args.dtype == ROPE_DTYPE_F32 ? 4 : 2;
  for_each_token(args, begin, end, [&](int64_t token, int64_t head, int64_t head_end) {
    const char* row = table_row(args, token);
    read_bytes(row, args.rotary_dim * table_element_size(args));
    for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
      Heads heads = heads_at(x, token, first, last, size);
      int64_t bytes = (same_place(x) ? args.rotary_dim : args.head_dim) * size;
      if (heads.in_stride == bytes && heads.out_stride == bytes) {  // one run
        bytes *= heads.count;
        heads.count = 1;
      }
      for (int64_t h = 0; h < heads.count; ++h) {
        copy_bytes<kStream>(heads.in + h * heads.in_stride, heads.out + h * heads.out_stride,
                            bytes);
      }
    });
  });
  if constexpr (kStream) Simd::finish_stream();
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_COPY_IMPL_H_
