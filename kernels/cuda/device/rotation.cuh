// (x', y') = (x cos - y sin, y cos + x sin) in float32. On packets, with one rounding to the
// element type, the factors are read in pieces of at most four, so that few registers are alive at
// a time.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_

#include "kernels/cuda/device/factors.cuh"

namespace rope_bench::device {

ROPE_DEVICE void rotate_pair(float& x, float& y, float cosine, float sine) {
  const float a = x, b = y;
  x = a * cosine - b * sine;
  y = b * cosine + a * sine;
}

// neox: element i of x pairs with element i of y; `row` begins at the factors of element 0.
template <int kElements, Source kSource>
ROPE_DEVICE void rotate_halves(float (&x)[kElements], float (&y)[kElements],
                               const FactorRow<kSource>& row) {
  constexpr int kPiece = kElements < 4 ? kElements : 4;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPiece> f = row.template load<kPiece>(first);
#pragma unroll
    for (int i = 0; i < kPiece; ++i)
      rotate_pair(x[first + i], y[first + i], f.cosine[i], f.sine[i]);
  }
}

// gptj: elements 2i and 2i + 1 of v are a pair.
template <int kElements, Source kSource>
ROPE_DEVICE void rotate_adjacent(float (&v)[kElements], const FactorRow<kSource>& row) {
  constexpr int kPairs = kElements / 2;
  const Factors<kPairs> f = row.template load<kPairs>(0);
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    rotate_pair(v[2 * i], v[2 * i + 1], f.cosine[i], row.flipped(f.sine[i]));
  }
}

template <typename T, int kBytes, Source kSource>
ROPE_DEVICE void rotate_halves(Packet<kBytes>& x, Packet<kBytes>& y,
                               const FactorRow<kSource>& row) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr int kPiece = kElements < 4 ? kElements : 4;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPiece> f = row.template load<kPiece>(first);
    float new_x[kPiece], new_y[kPiece];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      new_x[i] = get<T>(x, first + i);
      new_y[i] = get<T>(y, first + i);
      rotate_pair(new_x[i], new_y[i], f.cosine[i], f.sine[i]);
    }
    put<T>(x, first, new_x);
    put<T>(y, first, new_y);
  }
}

template <typename T, int kBytes, Source kSource>
ROPE_DEVICE void rotate_adjacent(Packet<kBytes>& v, const FactorRow<kSource>& row) {
  float values[kBytes / T::kSize];
  unpack<T>(v, values);
  rotate_adjacent(values, row);
  put<T>(v, 0, values);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
