// Every op, variant `naive`: one block per token, one thread per pair and step, in a stride loop
// over the pairs of all heads of Q and then of K, then over the dims that are copied. The mapping
// that vLLM published; what most kernels started from. A norm takes the heads one after the other,
// with a sum over the block for each.
//
// Element-sized accesses, the table read again for every head (through L1), a division per pair.
// Any layout, any even sizes, any alignment of whole elements.
#ifndef ROPE_BENCH_KERNELS_CUDA_NAIVE_CUH_
#define ROPE_BENCH_KERNELS_CUDA_NAIVE_CUH_

#include "kernels/cuda/device/factors.cuh"
#include "kernels/cuda/device/norm.cuh"
#include "kernels/cuda/device/rotation.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

struct NaiveOperand {
  Operand operand;       // based at dim 0
  int32_t offset = 0;    // of the rotated dims
  int32_t width = 0;     // dims of a head
  bool rotates = false;  // not v
  bool passes = false;   // the dims that are not rotated are moved or changed
};

struct NaiveParams {
  NaiveOperand q, k, v;
  TokenMap tokens;
  Table table;
  Divisor half_dim;  // rotary_dim / 2
  uint32_t sine_flip = 0;
  NormParams norm;
  bool norm_row = false;
  const char* bias = nullptr;
  int32_t head_dim = 0;
};

// The heads of one operand and one token.
// kRotatesOnly: nothing happens to a head but its rotation, and 32 bits hold the indices and
// offsets of a token.
template <typename T, Source kSource, Pairing kPairing, bool kRotatesOnly>
struct NaiveRow {
  const NaiveParams& p;
  const NaiveOperand& o;
  const char* in;  // the token's first head
  char* out;
  FactorRow<kSource> factors;
  const char* bias;     // of the operand's first head, or null
  const char* weights;  // likewise
  bool is_q;

  ROPE_DEVICE static int64_t offset(uint32_t head, int64_t head_stride, int dim) {
    if constexpr (kRotatesOnly)
      return head * static_cast<uint32_t>(head_stride) + static_cast<uint32_t>(dim) * T::kSize;
    return head * head_stride + dim * T::kSize;
  }
  ROPE_DEVICE const char* in_at(uint32_t head, int dim) const {
    return in + offset(head, o.operand.in_head_stride, dim);
  }
  ROPE_DEVICE char* out_at(uint32_t head, int dim) const {
    return out + offset(head, o.operand.out_head_stride, dim);
  }
  ROPE_DEVICE float read(uint32_t head, int dim) const {
    float value[1];
    unpack<T>(load<T::kSize, Hint::kKeep>(in_at(head, dim)), value);
    if (bias != nullptr) value[0] += read_parameter(bias, head, dim);
    return value[0];
  }
  ROPE_DEVICE float read_parameter(const char* values, uint32_t head, int dim) const {
    const int64_t index = static_cast<int64_t>(head) * p.head_dim + dim;
    return get<T>(load_constant<T::kSize>(values + index * T::kSize), 0);
  }
  ROPE_DEVICE void write(uint32_t head, int dim, float value) const {
    Packet<T::kSize> packet;
    const float values[1] = {value};
    put<T>(packet, 0, values);
    store<Hint::kKeep>(out_at(head, dim), packet);
  }
  ROPE_DEVICE float normalized(uint32_t head, int dim, float value, const NormScale& norm) const {
    float x[1] = {value * norm.scale * norm.factor};
    if (weights != nullptr) {
      x[0] *= read_parameter(weights, p.norm_row ? head : 0, dim) + p.norm.weight_offset;
    }
    return x[0];
  }
  ROPE_DEVICE float between(float value) const {
    float x[1] = {value};
    if (p.norm.round_between) round_to_element<T>(x);
    return x[0];
  }
  ROPE_DEVICE void rotate(int pair, float& x, float& y) const {
    const Factors<1> f = factors.template load<1>(pair);
    rotate_pair(x, y, f.cosine[0], f.sine[0]);
  }

  // Pairs [first_head, last_head) of heads.
  ROPE_DEVICE void turn(uint32_t first_head, uint32_t last_head, const NormScale& norm) const {
    const int half = static_cast<int>(p.half_dim.divisor);
    const uint32_t begin = first_head * p.half_dim.divisor, end = last_head * p.half_dim.divisor;
    for (uint32_t i = begin + thread_x(); i < end; i += block_dim_x()) {
      const uint32_t head = kRotatesOnly ? p.half_dim.small_quotient(i)
                                         : static_cast<uint32_t>(p.half_dim.quotient(i));
      const int pair = static_cast<int>(i - head * p.half_dim.divisor);
      const int first = o.offset + pair_first(kPairing, pair);
      const int second = o.offset + pair_second(kPairing, pair, 2 * half);
      if constexpr (kRotatesOnly) {
        Packet<T::kSize> x = load<T::kSize, Hint::kKeep>(in_at(head, first));
        Packet<T::kSize> y = load<T::kSize, Hint::kKeep>(in_at(head, second));
        if (p.sine_flip == 0) {
          rotate_halves<T>(x, y, factors.from(pair));
        } else {  // backwards
          rotate_halves<T>(y, x, factors.from(pair));
        }
        store<Hint::kKeep>(out_at(head, first), x);
        store<Hint::kKeep>(out_at(head, second), y);
        continue;
      }
      float x = read(head, first), y = read(head, second);
      if (p.norm.given && !p.norm.after_rotation) {
        x = between(normalized(head, first, x, norm));
        y = between(normalized(head, second, y, norm));
      }
      rotate(pair, x, y);
      if (p.norm.given && p.norm.after_rotation) {
        x = normalized(head, first, between(x), norm);
        y = normalized(head, second, between(y), norm);
      }
      write(head, first, x);
      write(head, second, y);
    }
  }
  // Their dims that are not rotated.
  ROPE_DEVICE void pass(uint32_t first_head, uint32_t last_head, const NormScale& norm) const {
    const int rotated = o.rotates ? 2 * static_cast<int>(p.half_dim.divisor) : 0;
    const uint32_t width = static_cast<uint32_t>(o.width - rotated);
    for (uint32_t i = first_head * width + thread_x(); i < last_head * width; i += block_dim_x()) {
      const uint32_t head = i / width;
      int dim = static_cast<int>(i - head * width);
      if (dim >= o.offset) dim += rotated;
      if (kRotatesOnly || (bias == nullptr && !(p.norm.given && o.rotates))) {  // bit for bit
        store<Hint::kKeep>(out_at(head, dim), load<T::kSize, Hint::kKeep>(in_at(head, dim)));
        continue;
      }
      float value = read(head, dim);
      if (p.norm.given && o.rotates) {
        if (p.norm.after_rotation) value = between(value);
        value = normalized(head, dim, value, norm);
      }
      write(head, dim, value);
    }
  }
  // This thread's share of the squares of heads [first_head, last_head), as the norm sees them.
  ROPE_DEVICE float squares(uint32_t first_head, uint32_t last_head, float scale) const {
    const int half = static_cast<int>(p.half_dim.divisor);
    const bool turned = p.norm.after_rotation;
    const int skipped = turned ? 2 * half : 0;
    const uint32_t width = static_cast<uint32_t>(p.head_dim - skipped);
    float sum = 0;
    for (uint32_t i = first_head * width + thread_x(); i < last_head * width; i += block_dim_x()) {
      const uint32_t head = i / width;
      int dim = static_cast<int>(i - head * width);
      if (turned && dim >= o.offset) dim += skipped;
      const float value = read(head, dim);
      const float x[1] = {turned ? between(value) : value};
      sum += sum_of_squares(x, scale);
    }
    if (!turned) return sum;
    const uint32_t begin = first_head * p.half_dim.divisor, end = last_head * p.half_dim.divisor;
    for (uint32_t i = begin + thread_x(); i < end; i += block_dim_x()) {
      const auto head = static_cast<uint32_t>(p.half_dim.quotient(i));
      const int pair = static_cast<int>(i - head * p.half_dim.divisor);
      float x[2] = {read(head, o.offset + pair_first(kPairing, pair)),
                    read(head, o.offset + pair_second(kPairing, pair, 2 * half))};
      rotate(pair, x[0], x[1]);
      x[0] = between(x[0]);
      x[1] = between(x[1]);
      sum += sum_of_squares(x, scale);
    }
    return sum;
  }
  // The norm of heads [first_head, last_head) together. All threads of the block come.
  ROPE_DEVICE NormScale norm_of(uint32_t first_head, uint32_t last_head, float* shared) const {
    const float sum = sum_block(squares(first_head, last_head, 1.0f), shared);
    sync_block();
    float scaled_sum = 0;
    if (left_range(sum)) {
      scaled_sum = sum_block(squares(first_head, last_head, kDownScale), shared);
      sync_block();
    }
    return norm_scale(p.norm, is_q, sum, scaled_sum);
  }
};

template <typename T, Source kSource, Pairing kPairing, bool kRotatesOnly>
ROPE_KERNEL void ROPE_MAX_REGISTERS(kRotatesOnly ? 32 : 64)
    rope_naive_kernel(ROPE_ARGUMENT NaiveParams p) {
  ROPE_SHARED(float, shared, kMostWarps);
  const Place at = p.tokens.locate(block_x());
  if (at.is_padding) return;
  const auto factors = FactorRow<kSource>::of(p.table, at.position,
                                              static_cast<int>(p.half_dim.divisor), p.sine_flip);
  uint32_t heads_before = 0;
#pragma unroll
  for (int operand = 0; operand < 3; ++operand) {
    const NaiveOperand& o = operand == 0 ? p.q : operand == 1 ? p.k : p.v;
    const uint32_t heads = o.operand.heads.divisor;
    const char* bias = p.bias == nullptr
                           ? nullptr
                           : p.bias + static_cast<int64_t>(heads_before) * p.head_dim * T::kSize;
    const NaiveRow<T, kSource, kPairing, kRotatesOnly> row{
        p,
        o,
        o.operand.in_row(at, 0),
        o.operand.out_row(at, 0),
        factors,
        bias,
        operand == 0 ? p.norm.q_weight : p.norm.k_weight,
        operand == 0};
    heads_before += heads;
    const uint32_t group = !o.rotates || !p.norm.given || p.norm_row ? heads : 1;
    for (uint32_t head = 0; head < heads; head += group) {
      NormScale norm;
      if (!kRotatesOnly && o.rotates && p.norm.given)
        norm = row.norm_of(head, head + group, shared);
      if (o.rotates) row.turn(head, head + group, norm);
      if (o.passes) row.pass(head, head + group, norm);
    }
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_NAIVE_CUH_
