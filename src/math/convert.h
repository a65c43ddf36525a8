// Element types as the mathematics reads and writes them: one traits struct per dtype, all inline
// and without branches that depend on the value, so that loops over rows vectorise.
#ifndef ROPE_BENCH_SRC_MATH_CONVERT_H_
#define ROPE_BENCH_SRC_MATH_CONVERT_H_

#include <bit>
#include <cstdint>

#include "kernels/dtype.h"

namespace rope_bench {

// 2^exponent for the range of normal doubles.
constexpr double pow2(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// The largest power of two <= |x|; 0 for 0 and double subnormals, infinity for Inf and NaN.
constexpr double pow2_floor(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0x7ff0000000000000u);
}

// Spacing of the dtype's numbers at |x|, the subnormal spacing at least.
template <Dtype kDtype>
constexpr double ulp_of(double x) {
  constexpr DtypeInfo kInfo = info(kDtype);
  constexpr double kRelative = pow2(-kInfo.mantissa_bits);
  constexpr double kFloor = pow2(kInfo.min_exponent - kInfo.mantissa_bits);
  const double spacing = pow2_floor(x) * kRelative;
  return spacing > kFloor ? spacing : kFloor;
}

template <Dtype kDtype>
struct Element;

template <>
struct Element<Dtype::kF32> {
  using Storage = uint32_t;
  static float to_float(Storage bits) { return std::bit_cast<float>(bits); }
  static Storage from_float(float x) { return std::bit_cast<uint32_t>(x); }
};

template <>
struct Element<Dtype::kBF16> {
  using Storage = uint16_t;
  static float to_float(Storage bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  // Nearest even; x must not be NaN.
  static Storage from_float(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return static_cast<Storage>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

template <>
struct Element<Dtype::kF16> {
  using Storage = uint16_t;
  static float to_float(Storage half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const uint32_t magnitude = half & 0x7fff;
    const uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
    const uint32_t special = (magnitude << 13) | 0x7f800000;  // Inf, NaN with its payload
    const uint32_t tiny =
        std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t bits = magnitude < 0x400 ? tiny : magnitude < 0x7c00 ? normal : special;
    return std::bit_cast<float>(bits | sign);
  }
  // Nearest even; |x| must round to a finite half.
  static Storage from_float(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = (bits >> 16) & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t normal =
        (magnitude - ((127 - 15) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Adding 0.5 rounds to multiples of 2^-24, the spacing of subnormal halves.
    const uint32_t tiny =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
    return static_cast<Storage>((magnitude < 0x38800000 ? tiny : normal) | sign);
  }
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_CONVERT_H_
