// norm_split_rope with a norm per head, the common case of fused.cuh: norm before rotation, no
// bias, tokens one after the other, heads that share out evenly among a power of two of a warp's
// threads.
//
//   q, k: rotate(x / sqrt(mean(x^2) + eps) * (w + offset)); v copied
//
// Mapping as rope_fast.cuh: items (token, head) in memory order, two packets of up to 16 bytes a
// thread; the sum of squares is a few shuffles among the neighbours that share a head. Packets stay
// as they were loaded until the norm is known, and are then taken in pieces of four elements: few
// registers, many threads that wait at once.
//
// Bytes: every row of q, k and v read and written once; T table rows, T positions; the weights.
#ifndef ROPE_BENCH_KERNELS_CUDA_NORM_PLAIN_CUH_
#define ROPE_BENCH_KERNELS_CUDA_NORM_PLAIN_CUH_

#include "kernels/cuda/fused_slice.cuh"
#include "kernels/cuda/rope_fast.cuh"

namespace rope_bench::device {

template <typename T, int kBytes>
ROPE_DEVICE float packet_squares(const Packet<kBytes>& v, float scale) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kBytes / T::kSize; ++i) {
    const float scaled = get<T>(v, i) * scale;
    sum += scaled * scaled;
  }
  return sum;
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

template <int kElements>
inline constexpr int kNormPiece = kElements < 4 ? kElements : 4;

// What the norm and the rotation of a thread's two packets need, asked for before the norm is
// known. `weights` begin at the head's first dim; null: ones.
template <typename T, int kBytes>
struct SliceNorm {
  Packet<kBytes> x_weights, y_weights;

  ROPE_DEVICE void load(const char* weights, const Slice& slice) {
    x_weights = y_weights = ones<T, kBytes>();
    if (weights == nullptr) return;
    x_weights = load_constant<kBytes>(weights + slice.first * kBytes);
    y_weights = load_constant<kBytes>(weights + slice.second * kBytes);
  }
};

// Elements [first, first + kPiece) of a packet under a norm: x * (w * factor + offset * factor).
template <typename T, int kPiece, int kBytes>
ROPE_DEVICE void take_normed(const Packet<kBytes>& v, const Packet<kBytes>& weights, int first,
                             float factor, float scaled_offset, float (&x)[kPiece]) {
#pragma unroll
  for (int i = 0; i < kPiece; ++i) {
    x[i] = get<T>(v, first + i) *
           fused_multiply_add(get<T>(weights, first + i), factor, scaled_offset);
  }
}

template <typename T, int kBytes>
ROPE_DEVICE void norm_packet(Packet<kBytes>& v, const Packet<kBytes>& weights, float factor,
                             float scaled_offset) {
  constexpr int kElements = kBytes / T::kSize, kPiece = kNormPiece<kElements>;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    float x[kPiece];
    take_normed<T, kPiece>(v, weights, first, factor, scaled_offset, x);
    put<T>(v, first, x);
  }
}

// gptj: a packet holds whole pairs.
template <typename T, int kBytes, Source kSource>
ROPE_DEVICE void norm_rotate_adjacent(Packet<kBytes>& v, const Packet<kBytes>& weights,
                                      float factor, float scaled_offset,
                                      const FactorRow<kSource>& row) {
  constexpr int kElements = kBytes / T::kSize, kPiece = kNormPiece<kElements>;
  constexpr int kPairs = kPiece / 2;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPairs> f = row.template load<kPairs>(first / 2);
    float x[kPiece];
    take_normed<T, kPiece>(v, weights, first, factor, scaled_offset, x);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      rotate_pair(x[2 * i], x[2 * i + 1], f.cosine[i], f.sine[i]);
    }
    put<T>(v, first, x);
  }
}

// neox: the first factors have been asked for already.
template <typename T, int kBytes, Source kSource>
ROPE_DEVICE void norm_rotate_halves(Packet<kBytes>& x, Packet<kBytes>& y,
                                    const SliceNorm<T, kBytes>& norm, float factor,
                                    float scaled_offset,
                                    const Factors<kNormPiece<kBytes / T::kSize>>& first_factors,
                                    const FactorRow<kSource>& row) {
  constexpr int kElements = kBytes / T::kSize, kPiece = kNormPiece<kElements>;
#pragma unroll
  for (int first = 0; first < kElements; first += kPiece) {
    const Factors<kPiece> f = first == 0 ? first_factors : row.template load<kPiece>(first);
    float new_x[kPiece], new_y[kPiece];
    take_normed<T, kPiece>(x, norm.x_weights, first, factor, scaled_offset, new_x);
    take_normed<T, kPiece>(y, norm.y_weights, first, factor, scaled_offset, new_y);
#pragma unroll
    for (int i = 0; i < kPiece; ++i) rotate_pair(new_x[i], new_y[i], f.cosine[i], f.sine[i]);
    put<T>(x, first, new_x);
    put<T>(y, first, new_y);
  }
}

// The two packets of a thread.
template <typename T, Pairing kPairing, int kBytes, Source kSource>
ROPE_DEVICE void norm_rotate_slice(Packet<kBytes>& x, Packet<kBytes>& y, const Slice& slice,
                                   int lane, const SliceNorm<T, kBytes>& norm, float factor,
                                   float scaled_offset,
                                   const Factors<kNormPiece<kBytes / T::kSize>>& first_factors,
                                   const FactorRow<kSource>& row) {
  constexpr int kElements = kBytes / T::kSize;
  if (!slice.rotates) {
    norm_packet<T>(x, norm.x_weights, factor, scaled_offset);
    norm_packet<T>(y, norm.y_weights, factor, scaled_offset);
  } else if constexpr (kSharesFactors<kPairing, kElements>) {
    norm_rotate_halves<T>(x, y, norm, factor, scaled_offset, first_factors,
                          row.from(lane * kElements));
  } else {
    constexpr int kPairs = kElements / 2;
    norm_rotate_adjacent<T>(x, norm.x_weights, factor, scaled_offset,
                            row.from(slice.first * kPairs));
    norm_rotate_adjacent<T>(y, norm.y_weights, factor, scaled_offset,
                            row.from(slice.second * kPairs));
  }
}

// The row of the table that a thread's packets need, and its first factors on their way.
template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_DEVICE FactorRow<kSource> ask_factors(const VectorParams& p, const TokenMap::Asked& position,
                                           const Slice& slice, int lane,
                                           Factors<kNormPiece<kBytes / T::kSize>>* first_factors) {
  constexpr int kElements = kBytes / T::kSize;
  const auto row = FactorRow<kSource>::of_row(p.table, position.row(),
                                              static_cast<int>(p.half_dim.divisor), p.sine_flip);
  if constexpr (kSharesFactors<kPairing, kElements>) {
    if (slice.rotates) *first_factors = row.template load<kNormPiece<kElements>>(lane * kElements);
  }
  return row;
}

// Narrow packets are those of a warp per head, whose loads are small: as many warps as there can
// be.
template <int kBytes>
inline constexpr int kNormRegisters = kBytes <= 4 ? 32 : 56;

template <typename T, Source kSource, Pairing kPairing, int kBytes>
ROPE_KERNEL void ROPE_MAX_REGISTERS(kNormRegisters<kBytes>)
    rope_norm_plain_kernel(ROPE_ARGUMENT FusedParams p) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  constexpr Hint kLoad = kAngles ? Hint::kStream : Hint::kKeep;
  ROPE_SHARED(float, shared, kAngles ? kSharedFactors : 1);
  const VectorParams& vector = p.vector;

  // Locate. Threads of rows that do not exist stay, on a row that does: the others of their warp
  // wait for them.
  if (!kAngles && block_x() < vector.walk.prefetch_blocks) {
    wait_for_previous_launch();
    prefetch_rows<true>(vector);
    return;
  }
  const Item item = item_of(vector);
  const Items& items = items_of(vector, item.role);
  const int lane = static_cast<int>(thread_x());
  wait_for_previous_launch();
  const auto last = static_cast<uint32_t>(vector.walk.chunk_count() - 1);
  const uint32_t token_in_chunk = item.exists ? item.token_in_chunk : last;
  const int64_t token = vector.walk.chunk_first() + token_in_chunk;
  const char* in = items.operand.short_in_row(vector.walk.chunk_first(), token_in_chunk, item.head);
  const bool is_v = item.role == Role::kV;
  TokenMap::Asked position{};
  if constexpr (!kAngles) position = vector.tokens.ask(token);
  BlockTokens tokens;
  [[maybe_unused]] auto factors = block_factors<true>(vector, item, &tokens, nullptr);
  if constexpr (kAngles) factors.begin();

  // Load.
  const Slice slice = plain_slice<kPairing, kElements, FastMode::kOutOfPlace>(items.slices, lane);
  Packet<kBytes> x = load<kBytes, kLoad>(in + slice.first * kBytes);
  Packet<kBytes> y = load<kBytes, kLoad>(in + slice.second * kBytes);
  let_next_launch_start();

  if (!is_v) {
    const bool is_q = item.role == Role::kQ;
    SliceNorm<T, kBytes> norm;
    norm.load(is_q ? p.norm.q_weight : p.norm.k_weight, slice);
    Factors<kNormPiece<kElements>> first_factors{};
    FactorRow<kSource> row{};
    if constexpr (!kAngles) {
      row =
          ask_factors<T, kSource, kPairing, kBytes>(vector, position, slice, lane, &first_factors);
    }

    // Norm.
    const float sum = sum_lanes(packet_squares<T>(x, 1.0f) + packet_squares<T>(y, 1.0f), p.group);
    float scaled_sum = 0;
    if (any_in_warp(left_range(sum))) {
      scaled_sum =
          sum_lanes(packet_squares<T>(x, kDownScale) + packet_squares<T>(y, kDownScale), p.group);
    }
    const float factor = norm_scale(p.norm, is_q, sum, scaled_sum).in_one();

    // Rotate.
    if constexpr (kAngles) {
      factors.finish(shared);
      sync_block();
      row = shared_row<kSource>(vector, item, tokens, shared);
      if constexpr (kSharesFactors<kPairing, kElements>) {
        if (slice.rotates)
          first_factors = row.template load<kNormPiece<kElements>>(lane * kElements);
      }
    }
    // Weights of ones have no offset.
    const float offset = (is_q ? p.norm.q_weight : p.norm.k_weight) == nullptr
                             ? 0.0f
                             : p.norm.weight_offset * factor;
    norm_rotate_slice<T, kPairing>(x, y, slice, lane, norm, factor, offset, first_factors, row);
  }

  // Store.
  if (!item.exists) return;
  char* out = items.operand.short_out_row(vector.walk.chunk_first(), token_in_chunk, item.head);
  store<Hint::kStream>(out + slice.first * kBytes, x);
  store<Hint::kStream>(out + slice.second * kBytes, y);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_NORM_PLAIN_CUH_
