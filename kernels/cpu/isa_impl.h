// Variant `fast` and the limit kernels, written once over the interface `Simd`; the translation
// unit includes the simd_*.h of its instruction set first.
//
// Formula    (x', y') = (x cos - y sin, y cos + x sin) for each pair (x, y) of a head, cos and sin
//            from row positions[t] of the table.
// Shapes     q [T, Hq, d], k [T, Hkv, d], any strides; the first r dims of a head rotate.
// Numbers    f32, f16 or bf16 in memory, float32 arithmetic (fused where the machine can), one
//            rounding to nearest even.
// Mapping    neox: two vectors of the halves against cos and sin as they lie in the table. gptj:
//            v * (c0, c0, c1, c1, ..) + swapped(v) * (-s0, s0, -s1, s1, ..), those two made once
//            per token and used by its heads. Both do the same operations on a pair.
// Limits     table in f32, rotary_offset 0; streamed stores need aligned rows.
// Bytes      rotated dims read and written once; pass-through dims only out of place.
// Source     own.
#ifndef ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_

#include "kernels/cpu/elements.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rows.h"

namespace rope_bench {
namespace {

constexpr int64_t kWidth = Simd::kWidth;

template <typename E, bool kStream>
inline void put(char* to, Simd::Vec x) {
  if constexpr (kStream) {
    Simd::stream(E{}, to, x);
  } else {
    Simd::store(E{}, to, x);
  }
}

template <bool kStream>
inline void put_block(char* to, Simd::Block x) {
  if constexpr (kStream) {
    Simd::stream_block(to, x);
  } else {
    Simd::store_block(to, x);
  }
}

template <typename Word>
inline void copy_word(const char* in, char* out) {
  Word word;
  __builtin_memcpy(&word, in, sizeof(word));
  asm volatile("" : "+r"(word));
  __builtin_memcpy(out, &word, sizeof(word));
}

// Loads every byte and stores every byte, also where in == out.
template <bool kStream>
inline void copy_bytes(const char* in, char* out, int64_t bytes) {
  constexpr int64_t kStep = Simd::kBlockBytes;
  int64_t i = 0;
  for (; i + 4 * kStep <= bytes; i += 4 * kStep) {
    Simd::Block a = Simd::load_block(in + i), b = Simd::load_block(in + i + kStep);
    Simd::Block c = Simd::load_block(in + i + 2 * kStep), d = Simd::load_block(in + i + 3 * kStep);
    Simd::keep(a), Simd::keep(b), Simd::keep(c), Simd::keep(d);
    put_block<kStream>(out + i, a);
    put_block<kStream>(out + i + kStep, b);
    put_block<kStream>(out + i + 2 * kStep, c);
    put_block<kStream>(out + i + 3 * kStep, d);
  }
  for (; i + kStep <= bytes; i += kStep) {
    Simd::Block block = Simd::load_block(in + i);
    Simd::keep(block);
    put_block<kStream>(out + i, block);
  }
  for (; i + 8 <= bytes; i += 8) copy_word<uint64_t>(in + i, out + i);
  for (; i + 2 <= bytes; i += 2) copy_word<uint16_t>(in + i, out + i);  // elements are 2 or 4 bytes
}

// One head, halves against halves. cos and sin are table rows: addresses of float32.
template <typename E, bool kStream>
inline void rotate_neox(const char* in, char* out, const char* cos, const char* sin, int64_t half) {
  const int64_t offset = half * E::kSize;
  int64_t i = 0;
  for (; i + kWidth <= half; i += kWidth) {
    const Simd::Vec x = Simd::load(E{}, in + i * E::kSize);
    const Simd::Vec y = Simd::load(E{}, in + offset + i * E::kSize);
    const Simd::Vec c = Simd::load(F32{}, cos + i * 4), s = Simd::load(F32{}, sin + i * 4);
    put<E, kStream>(out + i * E::kSize, Simd::mul_sub(x, c, Simd::mul(y, s)));
    put<E, kStream>(out + offset + i * E::kSize, Simd::mul_add(y, c, Simd::mul(x, s)));
  }
  if (const int64_t n = half - i; n > 0) {
    const Simd::Vec x = Simd::load_part(E{}, in + i * E::kSize, n);
    const Simd::Vec y = Simd::load_part(E{}, in + offset + i * E::kSize, n);
    const Simd::Vec c = Simd::load_part(F32{}, cos + i * 4, n);
    const Simd::Vec s = Simd::load_part(F32{}, sin + i * 4, n);
    Simd::store_part(E{}, out + i * E::kSize, Simd::mul_sub(x, c, Simd::mul(y, s)), n);
    Simd::store_part(E{}, out + offset + i * E::kSize, Simd::mul_add(y, c, Simd::mul(x, s)), n);
  }
}

// Cosines and signed sines of adjacent pairs, each twice.
constexpr int64_t kMaxTwice = 512;  // dims at a time: 4 KiB on the stack, whatever rotary_dim is
struct Twice {
  alignas(64) float cos[kMaxTwice];
  alignas(64) float sin[kMaxTwice];

  void fill(const char* cos_row, const char* sin_row, int64_t pairs) {
    for (int64_t i = 0; i < pairs; ++i) {
      float c, s;
      __builtin_memcpy(&c, cos_row + i * 4, 4);
      __builtin_memcpy(&s, sin_row + i * 4, 4);
      cos[2 * i] = cos[2 * i + 1] = c;
      sin[2 * i] = -s;
      sin[2 * i + 1] = s;
    }
  }
};

template <typename E, bool kStream>
inline void rotate_gptj(const char* in, char* out, const Twice& twice, int64_t dims) {
  const char* cos = reinterpret_cast<const char*>(twice.cos);
  const char* sin = reinterpret_cast<const char*>(twice.sin);
  int64_t i = 0;
  for (; i + kWidth <= dims; i += kWidth) {
    const Simd::Vec v = Simd::load(E{}, in + i * E::kSize);
    const Simd::Vec c = Simd::load(F32{}, cos + i * 4), s = Simd::load(F32{}, sin + i * 4);
    put<E, kStream>(out + i * E::kSize, Simd::mul_add(v, c, Simd::mul(Simd::swap_pairs(v), s)));
  }
  if (const int64_t n = dims - i; n > 0) {
    const Simd::Vec v = Simd::load_part(E{}, in + i * E::kSize, n);
    const Simd::Vec c = Simd::load_part(F32{}, cos + i * 4, n);
    const Simd::Vec s = Simd::load_part(F32{}, sin + i * 4, n);
    Simd::store_part(E{}, out + i * E::kSize,
                     Simd::mul_add(v, c, Simd::mul(Simd::swap_pairs(v), s)), n);
  }
}

template <typename E, bool kStream>
inline void pass_through(const RopeKernelArgs& args, const char* in, char* out) {
  if (in == out) return;
  const int64_t rotated = args.rotary_dim * E::kSize;
  copy_bytes<kStream>(in + rotated, out + rotated, args.head_dim * E::kSize - rotated);
}

template <typename E, bool kNeox, bool kStream>
void rotate_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  const int64_t half = args.rotary_dim / 2;
  for_each_token(args, begin, end, [&](int64_t token, int64_t head, int64_t head_end) {
    const char* cos = table_row(args, token);
    const char* sin = cos + half * 4;
    const auto each_head = [&](auto&& fn) {
      for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
        const Heads heads = heads_at(x, token, first, last, E::kSize);
        for (int64_t h = 0; h < heads.count; ++h) {
          fn(heads.in + h * heads.in_stride, heads.out + h * heads.out_stride);
        }
      });
    };
    if constexpr (kNeox) {
      each_head([&](const char* in, char* out) {
        rotate_neox<E, kStream>(in, out, cos, sin, half);
        pass_through<E, kStream>(args, in, out);
      });
    } else {
      Twice twice;
      for (int64_t pair = 0; pair < half; pair += kMaxTwice / 2) {
        const int64_t pairs = half - pair < kMaxTwice / 2 ? half - pair : kMaxTwice / 2;
        const int64_t offset = 2 * pair * E::kSize;
        const bool is_last = pair + pairs == half;
        twice.fill(cos + pair * 4, sin + pair * 4, pairs);
        each_head([&](const char* in, char* out) {
          rotate_gptj<E, kStream>(in + offset, out + offset, twice, 2 * pairs);
          if (is_last) pass_through<E, kStream>(args, in, out);
        });
      }
    }
  });
  if constexpr (kStream) Simd::finish_stream();
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
}

// The limit: the same rows, table rows and positions as rotate_rows, moved as bytes.
template <bool kStream>
void copy_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  const int64_t size = args.dtype == ROPE_DTYPE_F32 ? 4 : 2;
  for_each_token(args, begin, end, [&](int64_t token, int64_t head, int64_t head_end) {
    const char* row = table_row(args, token);
    read_bytes(row, int64_t{args.rotary_dim} * 4);
    for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
      Heads heads = heads_at(x, token, first, last, size);
      int64_t bytes = (in_place(x) ? args.rotary_dim : args.head_dim) * size;
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

constexpr IsaKernels make_isa_kernels() {
  return {{{{rotate_rows<F32, true, false>, rotate_rows<F32, true, true>},
            {rotate_rows<F32, false, false>, rotate_rows<F32, false, true>}},
           {{rotate_rows<F16, true, false>, rotate_rows<F16, true, true>},
            {rotate_rows<F16, false, false>, rotate_rows<F16, false, true>}},
           {{rotate_rows<BF16, true, false>, rotate_rows<BF16, true, true>},
            {rotate_rows<BF16, false, false>, rotate_rows<BF16, false, true>}}},
          {copy_rows<false>, copy_rows<true>},
          Simd::kStreamAlignment};
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_
