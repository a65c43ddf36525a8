// One element at a time: float32 from and to the storage types, rounding to nearest even.
#ifndef ROPE_BENCH_KERNELS_CPU_SCALAR_H_
#define ROPE_BENCH_KERNELS_CPU_SCALAR_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace rope_bench {

template <typename T>
T load_unaligned(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store_unaligned(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

struct ScalarF32 {
  using Bits = float;
  static float widen(Bits x) { return x; }
  static Bits narrow(float x) { return x; }
};

struct ScalarBF16 {
  using Bits = uint16_t;
  static float widen(Bits x) { return std::bit_cast<float>(uint32_t{x} << 16); }
  static Bits narrow(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    if (x != x) return static_cast<Bits>(bits >> 16 | 0x40);  // quiet, so that it stays a NaN
    return static_cast<Bits>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

struct ScalarF16 {
  using Bits = uint16_t;
  static float widen(Bits x) {
    const uint32_t sign = uint32_t{x & 0x8000u} << 16;
    const uint32_t rest = x & 0x7fffu;
    if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | rest << 13);
    // Exponent bias 15 to 127 by a product: exact, and it normalises subnormal numbers.
    return std::bit_cast<float>(
        sign | std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f));
  }
  static Bits narrow(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t rest = bits & 0x7fffffff;
    uint32_t half;
    if (rest > 0x7f800000) {
      half = 0x7e00 | (rest >> 13 & 0x3ff);  // a NaN stays a NaN
    } else if (rest >= 0x477ff000) {
      half = 0x7c00;  // 65520 and above round to infinity
    } else if (rest < 0x38800000) {
      // Subnormal: in the sum with 0.5 the last place is 2^-24, so the adder rounds.
      half = std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3f000000;
    } else {
      half = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    }
    return static_cast<Bits>(sign | half);
  }
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SCALAR_H_
