// The rotation of heads, written once over the interface `Simd`; the translation unit includes the
// simd_*.h of its instruction set first.
//
// Formula    (x', y') = (x cos - y sin, y cos + x sin) for each pair (x, y) of a head's slice.
// Mapping    neox: two vectors of the halves against cos and sin as they lie in the table. gptj:
//            v * (c0, c0, c1, c1, ..) -+ swapped(v) * (s0, s0, s1, s1, ..), the factors made once
//            per token and used by its heads. Both do the same operations on a pair.
#ifndef ROPE_BENCH_KERNELS_CPU_ROTATE_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_ROTATE_IMPL_H_

#include "kernels/cpu/copy_impl.h"
#include "kernels/cpu/factors_impl.h"

namespace rope_bench {
namespace {

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

// The rotated slice of heads, and `rest` bytes behind it.
template <typename E, bool kNeox, bool kStream>
inline void rotate_slices(const Heads& slices, Turn* turn, int64_t rest) {
  const TokenRow& t = turn->row;
  const int64_t rotary_dim = t.args.rotary_dim;
  if constexpr (kNeox) {
    const int64_t half = rotary_dim / 2, half_bytes = half * E::kSize;
    if (t.is_in_place()) {
      return each_neox<E, kStream>(slices, factors_in_place(t, 0), half_bytes, rest);
    }
    for (int64_t first = 0; first < half; first += Factors::kMaxPairs) {
      const Factors f = turn->widened.select(t, first);
      const int64_t behind = first + f.count == half ? rest : 0;
      if (first == 0) {
        each_neox<E, kStream>(slices, f, half_bytes, behind);
      } else {
        each_neox<E, kStream>(slices.behind(first * E::kSize), f, half_bytes, behind);
      }
    }
  } else {
    for (int64_t dim = 0; dim < rotary_dim; dim += Twice::kMaxDims) {
      const int64_t left = rotary_dim - dim;
      const int64_t dims = left < Twice::kMaxDims ? left : Twice::kMaxDims;
      turn->twice.select(t, &turn->widened, dim, dims);
      const int64_t behind = dims == left ? rest : 0;
      if (dim == 0) {
        each_gptj<E, kStream>(slices, turn->twice, dims, behind);
      } else {
        each_gptj<E, kStream>(slices.behind(dim * E::kSize), turn->twice, dims, behind);
      }
    }
  }
}

// Not inlined, for the sake of the registers of rotations.
template <bool kStream>
[[gnu::noinline]] void copy_many(const Heads& heads, int64_t bytes) {
  copy_heads<kStream>(heads, bytes);
}

// The rotated slices of heads of q or k; what passes through around them is copied, unless it is in
// place.
template <typename E, bool kNeox, bool kStream>
inline void rotate_heads(const Heads& slices, const RopeTensor& x, Turn* turn) {
  const RopeKernelArgs& args = turn->row.args;
  int64_t rest = 0;
  if (slices.in != slices.out) {
    rest = (row_width(args, x) - x.rotary_offset - args.rotary_dim) * E::kSize;
    const int64_t before = x.rotary_offset * E::kSize;
    if (before > 0) copy_many<kStream>(slices.behind(-before), before);
  }
  rotate_slices<E, kNeox, kStream>(slices, turn, rest);
}

// Whether every run of rotated dims begins and ends where a streamed store may.
template <typename E, bool kNeox>
inline bool can_store_streamed(const Heads& slices, int64_t rotary_dim) {
  const int64_t run = (kNeox ? rotary_dim / 2 : rotary_dim) * E::kSize;
  const int64_t stride = slices.count > 1 ? slices.out_stride : 0;
  const auto out = static_cast<int64_t>(reinterpret_cast<uintptr_t>(slices.out));
  return (run | stride | out) % Simd::kBlockBytes == 0;
}

// Other heads go through a buffer that stays in L1, some at a time.
template <typename E, bool kNeox>
inline void rotate_buffered(const Heads& slices, const RopeTensor& x, Turn* turn) {
  alignas(64) char buffer[4096];
  const int64_t before = x.rotary_offset * E::kSize;
  const int64_t row = row_width(turn->row.args, x) * E::kSize;
  int64_t group = static_cast<int64_t>(sizeof(buffer)) / row;
  if (group == 0) return rotate_heads<E, kNeox, false>(slices, x, turn);
  while (group > 1 && group * row % 64 != 0) --group;  // ends with a cache line
  for (int64_t done = 0; done < slices.count; done += group) {
    const int64_t count = slices.count - done < group ? slices.count - done : group;
    const char* in = slices.in + done * slices.in_stride;
    char* out = slices.out + done * slices.out_stride - before;
    rotate_heads<E, kNeox, false>({in, buffer + before, slices.in_stride, row, count}, x, turn);
    copy_heads<true>({buffer, out, row, slices.out_stride, count}, row);
  }
}

// Ops without bias and norm.
template <typename E, bool kNeox, bool kStream>
void rotate_rows(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  for_each_token(args, begin, end, [&](const Token& token, int64_t head, int64_t head_end) {
    Turn turn(args, token);
    for_each_operand(args, head, head_end, [&](const RopeTensor& x, int64_t first, int64_t last) {
      if (&x == &args.v) {
        return copy_many<kStream>(heads_at(args, x, token, first, last, E::kSize),
                                  args.head_dim * E::kSize);
      }
      const Heads slices = heads_at(args, x, token, first, last, E::kSize, x.rotary_offset);
      if (kStream && !can_store_streamed<E, kNeox>(slices, args.rotary_dim)) {
        rotate_buffered<E, kNeox>(slices, x, &turn);
      } else {
        rotate_heads<E, kNeox, kStream>(slices, x, &turn);
      }
    });
  });
  if constexpr (kStream) Simd::finish_stream();
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ROTATE_IMPL_H_
