// (x', y') = (x cos - y sin, y cos + x sin) on packets: float32 arithmetic, one rounding to the
// element type. The table is read in pieces of at most four factors, so that few registers are
// alive at a time.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/index.cuh"

namespace rope_bench::device {

template <int kCount>
struct Factors {
  float cosine[kCount], sine[kCount];
};

// Cosines and sines of neighbouring pairs in a row of the table, of float32 or of halves. Which
// halves is told at run time: another branch for all threads alike costs less than another kernel.
template <int kTableSize>
struct FactorRow {
  const char* cosines;
  const char* sines;
  bool is_bf16;

  ROPE_DEVICE static FactorRow of(const TableRef& table, int64_t token, int half_dim) {
    const char* row = table.row(token);
    return {row, row + half_dim * kTableSize, table.is_bf16};
  }
  // The row from that pair on.
  ROPE_DEVICE FactorRow from(int pair) const {
    return {cosines + pair * kTableSize, sines + pair * kTableSize, is_bf16};
  }
  // kCount pairs from `first` on.
  template <int kCount>
  ROPE_DEVICE Factors<kCount> load(int first) const {
    const auto c = load_constant<kTableSize * kCount>(cosines + first * kTableSize);
    const auto s = load_constant<kTableSize * kCount>(sines + first * kTableSize);
    Factors<kCount> f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kTableSize == 4) {
        f.cosine[i] = get<F32>(c, i);
        f.sine[i] = get<F32>(s, i);
      } else {
        f.cosine[i] = is_bf16 ? get<BF16>(c, i) : get<F16>(c, i);
        f.sine[i] = is_bf16 ? get<BF16>(s, i) : get<F16>(s, i);
      }
    }
    return f;
  }
};

// neox: element i of x pairs with element i of y; `row` begins at the factors of element 0.
template <typename T, int kBytes, int kTableSize>
ROPE_DEVICE void rotate_halves(Packet<kBytes>& x, Packet<kBytes>& y,
                               const FactorRow<kTableSize>& row) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr int kPiece = kElements < 4 ? kElements : 4;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPiece> f = row.template load<kPiece>(first);
    float new_x[kPiece], new_y[kPiece];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      const float a = get<T>(x, first + i), b = get<T>(y, first + i);
      new_x[i] = a * f.cosine[i] - b * f.sine[i];
      new_y[i] = b * f.cosine[i] + a * f.sine[i];
    }
    put<T>(x, first, new_x);
    put<T>(y, first, new_y);
  }
}

// gptj: elements 2i and 2i + 1 of v are a pair.
template <typename T, int kBytes, int kTableSize>
ROPE_DEVICE void rotate_adjacent(Packet<kBytes>& v, const FactorRow<kTableSize>& row) {
  constexpr int kPairs = kBytes / T::kSize / 2;
  const Factors<kPairs> f = row.template load<kPairs>(0);
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    const float a = get<T>(v, 2 * i), b = get<T>(v, 2 * i + 1);
    const float rotated[2] = {a * f.cosine[i] - b * f.sine[i], b * f.cosine[i] + a * f.sine[i]};
    put<T>(v, 2 * i, rotated);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_ROTATION_CUH_
