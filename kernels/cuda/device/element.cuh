// Element types as packets hold them: how many, and how they become float32 and back.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_ELEMENT_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_ELEMENT_CUH_

#include "kernels/cuda/device/platform.cuh"

namespace rope_bench::device {

struct F32 {
  static constexpr int kSize = 4;
};
struct F16 {
  static constexpr int kSize = 2;
  ROPE_DEVICE static float low(uint32_t w) { return f16_to_float(static_cast<uint16_t>(w)); }
  ROPE_DEVICE static float high(uint32_t w) { return f16_to_float(static_cast<uint16_t>(w >> 16)); }
  ROPE_DEVICE static uint32_t pack(float lo, float hi) { return pack_f16(lo, hi); }
};
struct BF16 {
  static constexpr int kSize = 2;
  ROPE_DEVICE static float low(uint32_t w) { return float_from_bits(w << 16); }
  ROPE_DEVICE static float high(uint32_t w) { return float_from_bits(w & 0xffff0000u); }
  ROPE_DEVICE static uint32_t pack(float lo, float hi) { return pack_bf16(lo, hi); }
};

// Element i of a packet as float32.
template <typename T, int kBytes>
ROPE_DEVICE float get(const Packet<kBytes>& v, int i) {
  if constexpr (T::kSize == 4) {
    return float_from_bits(v.word[i]);
  } else if constexpr (kBytes == 2) {
    return T::low(v.half);
  } else {
    return i % 2 == 0 ? T::low(v.word[i / 2]) : T::high(v.word[i / 2]);
  }
}

template <typename T, int kBytes, int kCount>
ROPE_DEVICE void unpack(const Packet<kBytes>& v, float (&value)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) value[i] = get<T>(v, i);
}

// Rounds kCount float32 results, once, into elements [first, first + kCount) of a packet.
template <typename T, int kBytes, int kCount>
ROPE_DEVICE void put(Packet<kBytes>& v, int first, const float (&value)[kCount]) {
  if constexpr (T::kSize == 4) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v.word[first + i] = bits_of_float(value[i]);
  } else if constexpr (kBytes == 2) {
    v.half = static_cast<uint16_t>(T::pack(value[0], 0.0f));
  } else {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
      v.word[first / 2 + i] = T::pack(value[2 * i], value[2 * i + 1]);
    }
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_ELEMENT_CUH_
