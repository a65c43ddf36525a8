// The stages of a fused op on the two packets of a thread, held as float32 from load to store.
#ifndef ROPE_BENCH_KERNELS_CUDA_FUSED_SLICE_CUH_
#define ROPE_BENCH_KERNELS_CUDA_FUSED_SLICE_CUH_

#include "kernels/cuda/device/norm.cuh"
#include "kernels/cuda/device/params.cuh"
#include "kernels/cuda/device/rotation.cuh"

namespace rope_bench::device {

struct FusedParams {
  VectorParams vector;
  NormParams norm;
  const char* bias = nullptr;  // of q, k and v in this order
  int32_t head_bytes = 0;      // of a head of bias or weights
  int32_t group = 0;           // threads of a head: a power of two up to a warp, or whole warps
};

template <typename T, int kBytes>
struct FusedSlice {
  static constexpr int kElements = kBytes / T::kSize;
  Slice slice;
  bool has_first = false, has_second = false;
  float x[kElements], y[kElements];

  // Where nothing is loaded there are zeros: they add nothing to a sum.
  ROPE_DEVICE void load_from(const char* in) {
    Packet<kBytes> first{}, second{};
    if (has_first) first = load<kBytes, Hint::kKeep>(in + slice.first * kBytes);
    if (has_second) second = load<kBytes, Hint::kKeep>(in + slice.second * kBytes);
    unpack<T>(first, x);
    unpack<T>(second, y);
  }
  // Bit for bit, NaNs too: float32 would not keep them.
  ROPE_DEVICE void copy(const char* in, char* out) const {
    Packet<kBytes> first, second;
    if (has_first) first = load<kBytes, Hint::kKeep>(in + slice.first * kBytes);
    if (has_second) second = load<kBytes, Hint::kKeep>(in + slice.second * kBytes);
    if (has_first) store<Hint::kStream>(out + slice.first * kBytes, first);
    if (has_second) store<Hint::kStream>(out + slice.second * kBytes, second);
  }
  // `bias` and `weights` at the first rotated dim of the head.
  ROPE_DEVICE void add_bias_of(const char* bias) {
    if (has_first) add_bias<T>(x, bias + slice.first * kBytes);
    if (has_second) add_bias<T>(y, bias + slice.second * kBytes);
  }
  ROPE_DEVICE float squares(float scale) const {
    return sum_of_squares(x, scale) + sum_of_squares(y, scale);
  }
  ROPE_DEVICE void normalize(const NormScale& norm, const char* weights, float weight_offset) {
    const bool weighted = weights != nullptr;
    if (has_first)
      apply_norm<T>(x, norm, weighted ? weights + slice.first * kBytes : nullptr, weight_offset);
    if (has_second)
      apply_norm<T>(y, norm, weighted ? weights + slice.second * kBytes : nullptr, weight_offset);
  }
  ROPE_DEVICE void round() {
    round_to_element<T>(x);
    round_to_element<T>(y);
  }
  template <Pairing kPairing, Source kSource>
  ROPE_DEVICE void rotate(const FactorRow<kSource>& row, int lane) {
    if (!slice.rotates || !has_first) return;
    if constexpr (kSharesFactors<kPairing, kElements>) {
      rotate_halves(x, y, row.from(lane * kElements));
    } else {
      constexpr int kPairs = kElements / 2;
      rotate_adjacent(x, row.from(slice.first * kPairs));
      if (has_second) rotate_adjacent(y, row.from(slice.second * kPairs));
    }
  }
  ROPE_DEVICE void store_to(char* out) const {
    Packet<kBytes> packet;
    put<T>(packet, 0, x);
    if (has_first) store<Hint::kStream>(out + slice.first * kBytes, packet);
    put<T>(packet, 0, y);
    if (has_second) store<Hint::kStream>(out + slice.second * kBytes, packet);
  }
};

// Heads before those of this role in a bias of q, k and v.
ROPE_DEVICE uint32_t bias_head(const VectorParams& p, Role role, uint32_t head) {
  if (role == Role::kQ) return head;
  head += p.q.operand.heads.divisor;
  return role == Role::kK ? head : head + p.k.operand.heads.divisor;
}

// The first rotated dim of a head of bias or weights.
ROPE_DEVICE const char* parameters_at(const char* values, const FusedParams& p, uint32_t head,
                                      const HeadSlices& slices, int packet_bytes) {
  return values + static_cast<int64_t>(head) * p.head_bytes + slices.lead * packet_bytes;
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_FUSED_SLICE_CUH_
