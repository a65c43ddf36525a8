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

#include "kernels/cpu/copy_impl.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rows.h"

namespace rope_bench {
namespace {

constexpr int64_t kWidth = Simd::kWidth;

// At most one vector.
template <typename E>
inline Simd::Vec load_some(E element, const char* from, int64_t count) {
  return count == kWidth ? Simd::load(element, from) : Simd::load_part(element, from, count);
}
template <typename E>
inline void store_some(E element, char* to, Simd::Vec x, int64_t count) {
  count == kWidth ? Simd::store(element, to, x) : Simd::store_part(element, to, x, count);
}

inline Simd::Vec turn_x(Simd::Vec x, Simd::Vec y, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_sub(x, c, Simd::mul(y, s));
}
inline Simd::Vec turn_y(Simd::Vec x, Simd::Vec y, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_add(y, c, Simd::mul(x, s));
}

// One head, halves against halves. cos and sin are table rows: addresses of float32.
template <typename E, bool kStream>
inline void rotate_neox(const char* in, char* out, const char* cos, const char* sin, int64_t half) {
  using Vec = Simd::Vec;
  const char* in_y = in + half * E::kSize;
  char* out_y = out + half * E::kSize;
  int64_t i = 0;
  for (; i + 2 * kWidth <= half; i += 2 * kWidth) {
    Vec x, x2, y, y2, c, c2, s, s2;
    Simd::load_two(E{}, in + i * E::kSize, &x, &x2);
    Simd::load_two(E{}, in_y + i * E::kSize, &y, &y2);
    Simd::load_two(F32{}, cos + i * 4, &c, &c2);
    Simd::load_two(F32{}, sin + i * 4, &s, &s2);
    Simd::store_two<kStream>(E{}, out + i * E::kSize, turn_x(x, y, c, s), turn_x(x2, y2, c2, s2));
    Simd::store_two<kStream>(E{}, out_y + i * E::kSize, turn_y(x, y, c, s), turn_y(x2, y2, c2, s2));
  }
  for (; i < half; i += kWidth) {
    const int64_t n = half - i < kWidth ? half - i : kWidth;
    const Vec x = load_some(E{}, in + i * E::kSize, n), y = load_some(E{}, in_y + i * E::kSize, n);
    const Vec c = load_some(F32{}, cos + i * 4, n), s = load_some(F32{}, sin + i * 4, n);
    store_some(E{}, out + i * E::kSize, turn_x(x, y, c, s), n);
    store_some(E{}, out_y + i * E::kSize, turn_y(x, y, c, s), n);
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

// v = (x0, y0, x1, y1, ..), c = (c0, c0, c1, c1, ..), s = (-s0, s0, -s1, s1, ..).
inline Simd::Vec turn_pairs(Simd::Vec v, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_add(v, c, Simd::mul(Simd::swap_pairs(v), s));
}

template <typename E, bool kStream>
inline void rotate_gptj(const char* in, char* out, const Twice& twice, int64_t dims) {
  using Vec = Simd::Vec;
  const char* cos = reinterpret_cast<const char*>(twice.cos);
  const char* sin = reinterpret_cast<const char*>(twice.sin);
  int64_t i = 0;
  for (; i + 2 * kWidth <= dims; i += 2 * kWidth) {
    Vec v, v2, c, c2, s, s2;
    Simd::load_two(E{}, in + i * E::kSize, &v, &v2);
    Simd::load_two(F32{}, cos + i * 4, &c, &c2);
    Simd::load_two(F32{}, sin + i * 4, &s, &s2);
    Simd::store_two<kStream>(E{}, out + i * E::kSize, turn_pairs(v, c, s), turn_pairs(v2, c2, s2));
  }
  for (; i < dims; i += kWidth) {
    const int64_t n = dims - i < kWidth ? dims - i : kWidth;
    const Vec v = load_some(E{}, in + i * E::kSize, n);
    const Vec c = load_some(F32{}, cos + i * 4, n), s = load_some(F32{}, sin + i * 4, n);
    store_some(E{}, out + i * E::kSize, turn_pairs(v, c, s), n);
  }
}

template <typename E, bool kStream>
inline void pass_through(const char* in, char* out, int64_t rotary_dim, int64_t head_dim) {
  const int64_t rotated = rotary_dim * E::kSize;
  copy_bytes<kStream>(in + rotated, out + rotated, (head_dim - rotary_dim) * E::kSize);
}

// The heads of one operand of one token. Not inlined: the loops above need the registers.
template <typename E, bool kStream>
[[gnu::noinline]] void rotate_heads_neox(const Heads& heads, const char* cos, int64_t rotary_dim,
                                         int64_t head_dim) {
  const char* in = heads.in;
  char* out = heads.out;
  for (int64_t h = 0; h < heads.count; ++h, in += heads.in_stride, out += heads.out_stride) {
    rotate_neox<E, kStream>(in, out, cos, cos + rotary_dim * 2, rotary_dim / 2);
    if (in != out) pass_through<E, kStream>(in, out, rotary_dim, head_dim);
  }
}

// Dims [0, dims) of the heads.
template <typename E, bool kStream>
[[gnu::noinline]] void rotate_heads_gptj(const Heads& heads, const Twice& twice, int64_t dims) {
  const char* in = heads.in;
  char* out = heads.out;
  for (int64_t h = 0; h < heads.count; ++h, in += heads.in_stride, out += heads.out_stride) {
    rotate_gptj<E, kStream>(in, out, twice, dims);
  }
}

template <typename E, bool kNeox, bool kStream>
void rotate_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  const int64_t rotary_dim = args.rotary_dim, head_dim = args.head_dim;
  for_each_token(args, begin, end, [&](int64_t token, int64_t head, int64_t head_end) {
    const char* cos = table_row(args, token);
    if constexpr (kNeox) {
      for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
        const Heads heads = heads_at(x, token, first, last, E::kSize);
        rotate_heads_neox<E, kStream>(heads, cos, rotary_dim, head_dim);
      });
    } else {
      Twice twice;
      for (int64_t dim = 0; dim < rotary_dim; dim += kMaxTwice) {
        const int64_t dims = rotary_dim - dim < kMaxTwice ? rotary_dim - dim : kMaxTwice;
        twice.fill(cos + dim * 2, cos + (rotary_dim + dim) * 2, dims / 2);
        for_each_operand(args, head, head_end,
                         [&](const RopeTensor& x, int64_t first, int64_t last) {
                           Heads heads = heads_at(x, token, first, last, E::kSize);
                           heads.in += dim * E::kSize;
                           heads.out += dim * E::kSize;
                           rotate_heads_gptj<E, kStream>(heads, twice, dims);
                         });
      }
      if (rotary_dim == head_dim) return;
      for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
        if (in_place(x)) return;
        const Heads heads = heads_at(x, token, first, last, E::kSize);
        for (int64_t h = 0; h < heads.count; ++h) {
          pass_through<E, kStream>(heads.in + h * heads.in_stride, heads.out + h * heads.out_stride,
                                   rotary_dim, head_dim);
        }
      });
    }
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
