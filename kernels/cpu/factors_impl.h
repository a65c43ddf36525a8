// The factors of a token: cos and sin of its pairs as float32, from a row of the table or from
// fixed-point angles, made once and shared by its heads. Written over the interface `Simd`; the
// translation unit includes the simd_*.h of its instruction set first.
#ifndef ROPE_BENCH_KERNELS_CPU_FACTORS_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_FACTORS_IMPL_H_

#include "kernels/cpu/elements.h"
#include "kernels/cpu/rows.h"

namespace rope_bench {
namespace {

constexpr int64_t kWidth = Simd::kWidth;

// At most one vector.
template <typename E>
inline Simd::Vec load_some(E element, const char* from, int64_t count) {
  return count == kWidth ? Simd::load(element, from) : Simd::load_part(element, from, count);
}
// Up to one vector of factors from a table row, at pair i.
inline Simd::Vec load_factors(const char* row, int32_t dtype, int64_t i, int64_t count) {
  if (dtype == ROPE_DTYPE_F16) return load_some(F16{}, row + i * F16::kSize, count);
  if (dtype == ROPE_DTYPE_BF16) return load_some(BF16{}, row + i * BF16::kSize, count);
  return load_some(F32{}, row + i * F32::kSize, count);
}

// What all heads of a token share.
struct TokenRow {
  TokenRow(const RopeKernelArgs& launch, const Token& its_token)
      : args(launch),
        token(its_token),
        row(table_row(launch, its_token)),
        backward(turns_back(launch)) {}

  // Whether the factors are a row of the table as it lies.
  bool is_in_place() const {
    return row != nullptr && args.table_dtype == ROPE_DTYPE_F32 && !backward;
  }

  const RopeKernelArgs& args;
  const Token& token;
  const char* row;  // of the table; null: without one
  bool backward;
};

// Factors of some neighbouring pairs, as float32. In steps of kMaxPairs, so that a row of any
// length fits a buffer on the stack.
struct Factors {
  static constexpr int64_t kMaxPairs = 256;
  const char* cos;
  const char* sin;
  int64_t count;
};

// Those of a row of float32 as they lie, all at once from pair `first` on.
inline Factors factors_in_place(const TokenRow& t, int64_t first) {
  const int64_t half = t.args.rotary_dim / 2;
  return {t.row + first * F32::kSize, t.row + (half + first) * F32::kSize, half - first};
}

// cos and sin of an angle of `turns` * 2^-64 turns, each within 2^-24: the cut to 32 bits is below
// 2^-29 in radians; after whole quarters of a turn are taken off in integers at most 0.79 radians
// are left, where the series to x^11 and x^10 are within 2^-33; float32 rounds once, by 2^-25.
inline void cos_sin(uint64_t turns, float* cosine, float* sine) {
  constexpr double kRadians = 0x1.921fb54442d18p+2 * 0x1p-32;  // 2 pi per 2^32
  const auto high = static_cast<uint32_t>(turns >> 32);
  const uint32_t quarter = (high + 0x20000000u) >> 30;
  const double x = static_cast<int32_t>(high - (quarter << 30)) * kRadians;
  const double z = x * x;
  const double s =
      x + x * z *
              (-1.0 / 6 +
               z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800)))));
  const double c =
      1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800)))));
  const double a = quarter % 2 == 0 ? c : s, b = quarter % 2 == 0 ? s : c;
  *cosine = static_cast<float>(quarter == 1 || quarter == 2 ? -a : a);
  *sine = static_cast<float>(quarter >= 2 ? -b : b);
}

// The factors of pairs [first, first + kMaxPairs) widened, computed or turned back.
struct Widened {
  alignas(64) float cos[Factors::kMaxPairs];
  alignas(64) float sin[Factors::kMaxPairs];
  int64_t first = -1;

  [[gnu::noinline]] Factors select(const TokenRow& t, int64_t from) {
    const int64_t half = t.args.rotary_dim / 2;
    const int64_t count = half - from < Factors::kMaxPairs ? half - from : Factors::kMaxPairs;
    if (from != first) {
      first = from;
      t.row != nullptr ? widen(t, count) : compute(t, count);
      for (int64_t i = 0; t.backward && i < count; ++i) sin[i] = -sin[i];
    }
    return {reinterpret_cast<const char*>(cos), reinterpret_cast<const char*>(sin), count};
  }

 private:
  void widen(const TokenRow& t, int64_t count) {
    for (int64_t i = 0; i < count; i += kWidth) {
      const int64_t n = count - i < kWidth ? count - i : kWidth;
      Simd::store(F32{}, reinterpret_cast<char*>(cos + i),
                  load_factors(t.row, t.args.table_dtype, first + i, n));
      Simd::store(F32{}, reinterpret_cast<char*>(sin + i),
                  load_factors(t.row, t.args.table_dtype, t.args.rotary_dim / 2 + first + i, n));
    }
  }

  void compute(const TokenRow& t, int64_t count) {
    const RopeKernelArgs& args = t.args;
    for (int64_t i = 0; i < count; ++i) {
      int64_t position = t.token.position;
      if (args.pair_axis != nullptr) {
        const int64_t axis = args.pair_axis[first + i];
        position =
            position_element(args, args.axis_positions, axis * args.num_tokens + t.token.index);
      }
      // The product wraps as angles do.
      cos_sin(static_cast<uint64_t>(position) * element<uint64_t>(args.turns, first + i), cos + i,
              sin + i);
      cos[i] *= args.attention_factor;
      sin[i] *= args.attention_factor;
    }
  }
};

// Factors of adjacent pairs, each twice, of some dims of a token.
struct Twice {
  static constexpr int64_t kMaxDims = 2 * Factors::kMaxPairs;
  alignas(64) float cos[kMaxDims];
  alignas(64) float sin[kMaxDims];
  int64_t first_dim = -1;

  // Makes the factors of dims [dim, dim + dims), unless they are there. By whole vectors: loads of
  // vectors would wait for stores of single numbers, and those for all before.
  void select(const TokenRow& t, Widened* widened, int64_t dim, int64_t dims) {
    if (dim == first_dim) return;
    first_dim = dim;
    const int64_t first = dim / 2;
    const Factors f = t.is_in_place() ? factors_in_place(t, first) : widened->select(t, first);
    for (int64_t i = 0; i < dims / 2; i += kWidth) {
      const int64_t n = dims / 2 - i < kWidth ? dims / 2 - i : kWidth;
      Simd::store_twice(cos + 2 * i, load_some(F32{}, f.cos + i * F32::kSize, n));
      Simd::store_twice(sin + 2 * i, load_some(F32{}, f.sin + i * F32::kSize, n));
    }
  }
};

// All that a token's rotation needs besides its heads.
struct Turn {
  Turn(const RopeKernelArgs& args, const Token& token) : row(args, token) {}
  TokenRow row;
  Widened widened;
  Twice twice;
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_FACTORS_IMPL_H_
