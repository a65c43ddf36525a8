// Norm and rotation of the two packets that a thread has of each of its heads. Packets stay as
// they were loaded until both are known, and are then taken in pieces of four elements: few
// registers, many threads that wait at once.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_STEPS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_STEPS_CUH_

#include "kernels/cuda/device/head_slices.cuh"
#include "kernels/cuda/device/norm.cuh"
#include "kernels/cuda/device/plain_params.cuh"
#include "kernels/cuda/device/rotation.cuh"

namespace rope_bench::device {

template <int kBytes>
struct HeadPackets {
  Packet<kBytes> x, y;
};

// Sum of a thread's squares of a head: pieces of 8 bytes of x and of y one after the other, then
// pieces by neighbours. With the shuffles of sum_neighbours() a sum has the same order, and the
// same bits, whether packets have 8 bytes or 16.
template <typename T, int kBytes>
ROPE_DEVICE float head_squares(const HeadPackets<kBytes>& head, float scale) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr int kCount = kElements < 8 / T::kSize ? kElements : 8 / T::kSize;
  float sum[kElements / kCount];
#pragma unroll
  for (int piece = 0; piece < kElements / kCount; ++piece) {
    sum[piece] = 0;
#pragma unroll
    for (int i = 0; i < 2 * kCount; ++i) {
      const int at = piece * kCount + i % kCount;
      const float x = (i < kCount ? get<T>(head.x, at) : get<T>(head.y, at)) * scale;
      sum[piece] = fused_multiply_add(x, x, sum[piece]);
    }
  }
#pragma unroll
  for (int piece = 1; piece < kElements / kCount; ++piece) sum[0] += sum[piece];
  return sum[0];
}

// The same over the threads of a head, a power of two of them; for kCount heads. The whole warp
// comes.
template <int kCount>
ROPE_DEVICE void sum_neighbours(float (&sum)[kCount], uint32_t lanes) {
  for (uint32_t distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
    for (int h = 0; h < kCount; ++h) sum[h] += shuffle_xor(sum[h], static_cast<int>(distance));
  }
}

// A packet of ones.
template <typename T, int kBytes>
ROPE_DEVICE Packet<kBytes> ones() {
  Packet<kBytes> v;
  float one[kBytes / T::kSize];
#pragma unroll
  for (int i = 0; i < kBytes / T::kSize; ++i) one[i] = 1.0f;
  put<T>(v, 0, one);
  return v;
}

// Weights of a thread's two packets.
template <typename T, int kBytes>
struct PlainWeights {
  Packet<kBytes> x, y;

  // `head_offset`: of the head among weights of several.
  ROPE_DEVICE void load(const PlainOperand& o, const PlainSlice& slice, uint32_t head_offset) {
    x = y = ones<T, kBytes>();
    if (o.weights == nullptr) return;
    const char* at = o.weights + (head_offset + static_cast<uint32_t>(slice.first));
    x = load_constant<kBytes>(at);
    y = load_constant<kBytes>(at + slice.step);
  }
};

template <int kElements>
inline constexpr int kPiece = kElements < 4 ? kElements : 4;

// Elements [first, first + kCount) of a packet; under a norm x * (w * factor + offset * factor).
template <typename T, bool kNorm, int kCount, int kBytes>
ROPE_DEVICE void take(const Packet<kBytes>& v, const Packet<kBytes>& weights, int first,
                      float factor, float scaled_offset, float (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    x[i] = get<T>(v, first + i);
    if constexpr (kNorm)
      x[i] *= fused_multiply_add(get<T>(weights, first + i), factor, scaled_offset);
  }
}

// The heads of a thread, their weights and norms. kWeights: sets of weights, one for all heads or
// one for each.
template <typename T, Pairing kPairing, int kBytes, int kHeads, bool kNorm, int kWeights = 1>
struct PlainHeads {
  static constexpr int kElements = kBytes / T::kSize;
  static constexpr int kCount = kPiece<kElements>;
  static constexpr bool kShares = kSharesFactors<kPairing, kElements>;
  using FirstFactors = Factors<kCount>;

  HeadPackets<kBytes> head[kHeads];
  PlainWeights<T, kBytes> weights[kWeights];
  float factor[kHeads];
  float offset;

  ROPE_DEVICE void take_from(int h, int first, float (&x)[kCount], float (&y)[kCount]) const {
    const float scaled_offset = kNorm ? offset * factor[h] : 0;
    const PlainWeights<T, kBytes>& w = weights[h % kWeights];
    take<T, kNorm>(head[h].x, w.x, first, factor[h], scaled_offset, x);
    take<T, kNorm>(head[h].y, w.y, first, factor[h], scaled_offset, y);
  }
  ROPE_DEVICE void put_into(int h, int first, const float (&x)[kCount], const float (&y)[kCount]) {
    put<T>(head[h].x, first, x);
    put<T>(head[h].y, first, y);
  }

  template <Source kSource>
  ROPE_DEVICE void turn(const FirstFactors& first_factors, const FactorRow<kSource>& row,
                        int pairs) {
    if constexpr (kShares) {
      turn_halves(first_factors, row);
    } else {
      turn_adjacent(row, pairs);
    }
  }
  ROPE_DEVICE void only_norm() {
#pragma unroll
    for (int first = 0; first < kElements; first += kCount) {
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        float x[kCount], y[kCount];
        take_from(h, first, x, y);
        put_into(h, first, x, y);
      }
    }
  }
  // The two packets turn together; the first factors have been asked for already.
  template <Source kSource>
  ROPE_DEVICE void turn_halves(const FirstFactors& first_factors, const FactorRow<kSource>& row) {
#pragma unroll
    for (int first = 0; first < kElements; first += kCount) {
      const FirstFactors f = first == 0 ? first_factors : row.template load<kCount>(first);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        float x[kCount], y[kCount];
        take_from(h, first, x, y);
#pragma unroll
        for (int i = 0; i < kCount; ++i) rotate_pair(x[i], y[i], f.cosine[i], f.sine[i]);
        put_into(h, first, x, y);
      }
    }
  }
  // gptj: each packet holds whole pairs; `row` begins with those of the first packets, those of the
  // second are `pairs` further.
  template <Source kSource>
  ROPE_DEVICE void turn_adjacent(const FactorRow<kSource>& row, int pairs) {
    constexpr int kPairs = kCount / 2;
#pragma unroll
    for (int first = 0; first < kElements; first += kCount) {
      const Factors<kPairs> fx = row.template load<kPairs>(first / 2);
      const Factors<kPairs> fy = row.from(pairs).template load<kPairs>(first / 2);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        float x[kCount], y[kCount];
        take_from(h, first, x, y);
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          rotate_pair(x[2 * i], x[2 * i + 1], fx.cosine[i], row.flipped(fx.sine[i]));
          rotate_pair(y[2 * i], y[2 * i + 1], fy.cosine[i], row.flipped(fy.sine[i]));
        }
        put_into(h, first, x, y);
      }
    }
  }
};

// The norms of a thread's heads, each over the `lanes` threads that share it. The whole warp comes.
template <typename T, Pairing kPairing, int kBytes, int kHeads>
ROPE_DEVICE void norm_factors(PlainHeads<T, kPairing, kBytes, kHeads, true>& heads,
                              const PlainOperand& o, float eps, uint32_t lanes) {
  float sum[kHeads], scaled[kHeads];
  bool left = false;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) sum[h] = head_squares<T>(heads.head[h], 1.0f);
  sum_neighbours(sum, lanes);
#pragma unroll
  for (int h = 0; h < kHeads; ++h) left = left || left_range(sum[h]);
  if (!any_in_warp(left)) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) heads.factor[h] = inverse_sqrt(sum[h] * o.inverse_count + eps);
    return;
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) scaled[h] = head_squares<T>(heads.head[h], kDownScale);
  sum_neighbours(scaled, lanes);
#pragma unroll
  for (int h = 0; h < kHeads; ++h)
    heads.factor[h] = norm_scale(eps, o.inverse_count, sum[h], scaled[h]).in_one();
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PLAIN_STEPS_CUH_
