// Variant `fast` and the limit kernels, written once over the interface `Simd`; the translation
// unit includes the simd_*.h of its instruction set first.
//
// Formula    (x', y') = (x cos - y sin, y cos + x sin) for each pair (x, y) of a head, cos and sin
//            from row positions[t] of the table.
// Shapes     q [T, Hq, d], k [T, Hkv, d], any strides; the first r dims of a head rotate.
// Numbers    f32, f16 or bf16 in memory, float32 arithmetic (fused where the machine can), one
//            rounding to nearest even.
// Mapping    neox: two vectors of the halves against cos and sin as they lie in the table. gptj:
//            v * (c0, c0, c1, c1, ..) -+ swapped(v) * (s0, s0, s1, s1, ..), the factors made once
//            per token and used by its heads. Both do the same operations on a pair.
// Tables     f32 rows are read where they lie; f16 and bf16 rows are widened once per token.
// Limits     rotary_offset 0.
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
template <bool kStream, typename E>
inline void store_some(E element, char* to, Simd::Vec x, int64_t count) {
  if (count < kWidth) return Simd::store_part(element, to, x, count);
  if constexpr (kStream && E::kSize == 4) {  // narrower ones are half a block
    Simd::store_block<true>(to, (Simd::Block)x);
  } else {
    Simd::store(element, to, x);
  }
}

inline Simd::Vec turn_x(Simd::Vec x, Simd::Vec y, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_sub(x, c, Simd::mul(y, s));
}
inline Simd::Vec turn_y(Simd::Vec x, Simd::Vec y, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_add(y, c, Simd::mul(x, s));
}

// Up to one vector of factors from a table row, at pair i.
inline Simd::Vec load_factors(const char* row, int32_t dtype, int64_t i, int64_t count) {
  if (dtype == ROPE_DTYPE_F16) return load_some(F16{}, row + i * F16::kSize, count);
  if (dtype == ROPE_DTYPE_BF16) return load_some(BF16{}, row + i * BF16::kSize, count);
  return load_some(F32{}, row + i * F32::kSize, count);
}

// What all heads of a token share.
struct TokenRow {
  const char* row;  // of the table
  int32_t dtype;    // of the table
  int64_t rotary_dim, head_dim;
};

// Factors of some neighbouring pairs, as float32. In steps of kMaxPairs, so that a row of any
// length fits a buffer on the stack.
struct Factors {
  static constexpr int64_t kMaxPairs = 256;
  const char* cos;
  const char* sin;
  int64_t count;
};

// Those of a row of float32 as they lie, all at once.
inline Factors factors_in_place(const TokenRow& t) {
  return {t.row, t.row + t.rotary_dim / 2 * F32::kSize, t.rotary_dim / 2};
}

// Those of a narrower row, widened.
struct Widened {
  alignas(64) float cos[Factors::kMaxPairs];
  alignas(64) float sin[Factors::kMaxPairs];

  Factors select(const TokenRow& t, int64_t first) {
    const int64_t half = t.rotary_dim / 2;
    const int64_t count = half - first < Factors::kMaxPairs ? half - first : Factors::kMaxPairs;
    for (int64_t i = 0; i < count; i += kWidth) {
      const int64_t n = count - i < kWidth ? count - i : kWidth;
      Simd::store(F32{}, reinterpret_cast<char*>(cos + i),
                  load_factors(t.row, t.dtype, first + i, n));
      Simd::store(F32{}, reinterpret_cast<char*>(sin + i),
                  load_factors(t.row, t.dtype, half + first + i, n));
    }
    return {reinterpret_cast<const char*>(cos), reinterpret_cast<const char*>(sin), count};
  }
};

// Pairs of one head, halves against halves: `in` at the first of them, its partner half_bytes on.
template <typename E, bool kStream>
inline void rotate_neox(const char* in, char* out, const Factors& f, int64_t half_bytes) {
  using Vec = Simd::Vec;
  const char* in_y = in + half_bytes;
  char* out_y = out + half_bytes;
  const char* cos = f.cos;
  const char* sin = f.sin;
  const int64_t half = f.count;
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
    store_some<kStream>(E{}, out + i * E::kSize, turn_x(x, y, c, s), n);
    store_some<kStream>(E{}, out_y + i * E::kSize, turn_y(x, y, c, s), n);
  }
}

// Factors of adjacent pairs, each twice, of some dims of a token.
struct Twice {
  static constexpr int64_t kMaxDims = 512;  // 4 KiB on the stack, whatever rotary_dim is
  alignas(64) float cos[kMaxDims];
  alignas(64) float sin[kMaxDims];
  int64_t first_dim = -1;

  // Makes the factors of dims [dim, dim + dims) from the table row, unless they are there. By whole
  // vectors: loads of vectors would wait for stores of single numbers, and those for all before.
  void select(const TokenRow& t, int64_t dim, int64_t dims) {
    if (dim == first_dim) return;
    first_dim = dim;
    for (int64_t i = 0; i < dims / 2; i += kWidth) {
      const int64_t n = dims / 2 - i < kWidth ? dims / 2 - i : kWidth;
      Simd::store_twice(cos + 2 * i, load_factors(t.row, t.dtype, dim / 2 + i, n));
      Simd::store_twice(sin + 2 * i, load_factors(t.row, t.dtype, (t.rotary_dim + dim) / 2 + i, n));
    }
  }
};

// v = (x0, y0, x1, y1, ..), c = (c0, c0, c1, c1, ..), s = (s0, s0, s1, s1, ..).
inline Simd::Vec turn_pairs(Simd::Vec v, Simd::Vec c, Simd::Vec s) {
  return Simd::mul_sub_add(v, c, Simd::mul(Simd::swap_pairs(v), s));
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
    store_some<kStream>(E{}, out + i * E::kSize, turn_pairs(v, c, s), n);
  }
}

// How far ahead to ask for a later head's rotated dims, in bytes; 0 is not at all. It pays in place
// where whole lines are left out: jumps that the hardware does not foresee.
inline int64_t prefetch_distance(const Heads& heads, int64_t bytes) {
  constexpr int64_t kDistance = 2048;
  const int64_t stride = heads.in_stride;
  if (heads.in != heads.out || heads.count < 2) return 0;
  if (stride < bytes + (stride % 64 == 0 ? 64 : 128)) return 0;
  return stride < kDistance ? kDistance / stride * stride : stride;
}
// Always inlined: GCC takes a function that only prefetches for one without effect and drops its
// calls.
[[gnu::always_inline]] inline void prefetch(const char* in, int64_t distance, int64_t bytes) {
  if (distance == 0) return;
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(in + distance + i);
}

// The two loops over heads are not inlined: those around them need registers, too. `rest` bytes
// follow the last of the pairs and pass through.
template <typename E, bool kStream>
[[gnu::noinline]] void each_neox(const Heads& heads, const Factors& f, int64_t half_bytes,
                                 int64_t rest) {
  const int64_t bytes = f.count * E::kSize, distance = prefetch_distance(heads, 2 * half_bytes);
  const char* in = heads.in;
  char* out = heads.out;
  for (int64_t h = 0; h < heads.count; ++h, in += heads.in_stride, out += heads.out_stride) {
    prefetch(in, distance, half_bytes + bytes);
    rotate_neox<E, kStream>(in, out, f, half_bytes);
    if (rest > 0) copy_bytes<kStream>(in + half_bytes + bytes, out + half_bytes + bytes, rest);
  }
}

template <typename E, bool kStream>
[[gnu::noinline]] void each_gptj(const Heads& heads, const Twice& twice, int64_t dims,
                                 int64_t rest) {
  const int64_t bytes = dims * E::kSize, distance = prefetch_distance(heads, bytes);
  const char* in = heads.in;
  char* out = heads.out;
  for (int64_t h = 0; h < heads.count; ++h, in += heads.in_stride, out += heads.out_stride) {
    prefetch(in, distance, bytes);
    rotate_gptj<E, kStream>(in, out, twice, dims);
    if (rest > 0) copy_bytes<kStream>(in + bytes, out + bytes, rest);
  }
}

template <typename E, bool kNeox, bool kStream>
inline void rotate_heads(const Heads& heads, const TokenRow& t, Twice* twice) {
  const int64_t rest = heads.in == heads.out ? 0 : (t.head_dim - t.rotary_dim) * E::kSize;
  if constexpr (kNeox) {
    const int64_t half = t.rotary_dim / 2, half_bytes = half * E::kSize;
    if (t.dtype == ROPE_DTYPE_F32) {
      return each_neox<E, kStream>(heads, factors_in_place(t), half_bytes, rest);
    }
    for (int64_t first = 0; first < half; first += Factors::kMaxPairs) {
      Widened widened;
      const Factors f = widened.select(t, first);
      Heads part = heads;
      part.in += first * E::kSize;
      part.out += first * E::kSize;
      each_neox<E, kStream>(part, f, half_bytes, first + f.count == half ? rest : 0);
    }
  } else {
    for (int64_t dim = 0; dim < t.rotary_dim; dim += Twice::kMaxDims) {
      const int64_t left = t.rotary_dim - dim;
      const int64_t dims = left < Twice::kMaxDims ? left : Twice::kMaxDims;
      twice->select(t, dim, dims);
      Heads part = heads;
      part.in += dim * E::kSize;
      part.out += dim * E::kSize;
      each_gptj<E, kStream>(part, *twice, dims, dims == left ? rest : 0);
    }
  }
}

// Whether every run of rotated dims begins and ends where a streamed store may.
template <typename E, bool kNeox>
inline bool can_store_streamed(const Heads& heads, const TokenRow& t) {
  const int64_t run = (kNeox ? t.rotary_dim / 2 : t.rotary_dim) * E::kSize;
  const int64_t stride = heads.count > 1 ? heads.out_stride : 0;
  const auto out = static_cast<int64_t>(reinterpret_cast<uintptr_t>(heads.out));
  return (run | stride | out) % Simd::kBlockBytes == 0;
}

// Other heads go through a buffer that stays in L1, some at a time.
template <typename E, bool kNeox>
inline void rotate_buffered(Heads heads, const TokenRow& t, Twice* twice) {
  alignas(64) char buffer[4096];
  const int64_t row = t.head_dim * E::kSize;
  int64_t group = static_cast<int64_t>(sizeof(buffer)) / row;
  if (group == 0) return rotate_heads<E, kNeox, false>(heads, t, twice);
  while (group > 1 && group * row % 64 != 0) --group;  // ends with a cache line
  for (; heads.count > 0; heads.count -= group) {
    const int64_t count = heads.count < group ? heads.count : group;
    rotate_heads<E, kNeox, false>({heads.in, buffer, heads.in_stride, row, count}, t, twice);
    if (heads.out_stride == row) {
      copy_bytes<true>(buffer, heads.out, count * row);
    } else {
      for (int64_t h = 0; h < count; ++h) {
        copy_bytes<true>(buffer + h * row, heads.out + h * heads.out_stride, row);
      }
    }
    heads.in += count * heads.in_stride;
    heads.out += count * heads.out_stride;
  }
}

template <typename E, bool kNeox, bool kStream>
void rotate_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  for_each_token(args, begin, end, [&](int64_t token, int64_t head, int64_t head_end) {
    const TokenRow t{table_row(args, token), args.table_dtype, args.rotary_dim, args.head_dim};
    Twice twice;
    for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
      const Heads heads = heads_at(x, token, first, last, E::kSize);
      if (kStream && !can_store_streamed<E, kNeox>(heads, t)) {
        rotate_buffered<E, kNeox>(heads, t, &twice);
      } else {
        rotate_heads<E, kNeox, kStream>(heads, t, &twice);
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
          {copy_rows<false>, copy_rows<true>}};
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ISA_IMPL_H_
