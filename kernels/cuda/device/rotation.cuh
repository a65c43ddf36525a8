// (x', y') = (x cos - y sin, y cos + x sin) on packets: float32 arithmetic, one rounding to the
// element type. The table is read in pieces of at most four factors, so that few registers are
// alive at a time.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_

#include "kernels/cuda/device/element.cuh"

namespace rope_bench::device {

template <int kCount>
struct Factors {
  Packet<4 * kCount> cosines, sines;
  ROPE_DEVICE float cosine(int i) const { return float_from_bits(cosines.word[i]); }
  ROPE_DEVICE float sine(int i) const { return float_from_bits(sines.word[i]); }
};

template <int kCount>
ROPE_DEVICE Factors<kCount> load_factors(const float* cosines, const float* sines) {
  return {load_constant<4 * kCount>(cosines), load_constant<4 * kCount>(sines)};
}

// neox: element i of x pairs with element i of y; `cosines` and `sines` point at the factors of
// element 0.
template <typename T, int kBytes>
ROPE_DEVICE void rotate_halves(Packet<kBytes>& x, Packet<kBytes>& y, const float* cosines,
                               const float* sines) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr int kPiece = kElements < 4 ? kElements : 4;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPiece> f = load_factors<kPiece>(cosines + first, sines + first);
    float new_x[kPiece], new_y[kPiece];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      const float a = get<T>(x, first + i), b = get<T>(y, first + i);
      new_x[i] = a * f.cosine(i) - b * f.sine(i);
      new_y[i] = b * f.cosine(i) + a * f.sine(i);
    }
    put<T>(x, first, new_x);
    put<T>(y, first, new_y);
  }
}

// gptj: elements 2i and 2i + 1 of v are a pair.
template <typename T, int kBytes>
ROPE_DEVICE void rotate_adjacent(Packet<kBytes>& v, const float* cosines, const float* sines) {
  constexpr int kPairs = kBytes / T::kSize / 2;
  const Factors<kPairs> f = load_factors<kPairs>(cosines, sines);
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const float a = get<T>(v, 2 * i), b = get<T>(v, 2 * i + 1);
    const float rotated[2] = {a * f.cosine(i) - b * f.sine(i), b * f.cosine(i) + a * f.sine(i)};
    put<T>(v, 2 * i, rotated);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
