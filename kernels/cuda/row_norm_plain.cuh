// norm_split_rope with a norm over all heads of a token, the common case of row_norm.cuh: as
// plain.cuh, and a token that fits a block.
//
// Mapping. A block takes one token: whole warps for its heads of Q, then of K, then of V, each
// thread two packets of up to 16 bytes of one or two heads, loaded once and kept from the sum of
// squares to the store. Both sums are made of the warps' sums in shared memory, where the token's
// factors meet them.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_

#include "kernels/cuda/device/plain_steps.cuh"

namespace rope_bench::device {

struct RowPlainParams {
  PlainParams plain;
  Divisor head_threads;
  uint32_t head_bytes = 0;  // of a head of the weights
  // Where the threads of k and v begin, and where all end: multiples of a warp.
  uint32_t k_first = 0, v_first = 0, end = 0;
};

// About as many blocks as a GPU holds.
inline constexpr uint32_t kTokensAhead = 512;

// Sum of the warps' sums [first, last).
ROPE_DEVICE float sum_warps(const float* sums, uint32_t first, uint32_t last) {
  float sum = 0;
  for (uint32_t warp = first; warp < last; ++warp) sum += sums[warp];
  return sum;
}

// Value i of a row of the table.
template <Source kSource>
ROPE_DEVICE float table_value(const char* row, uint32_t i, bool is_bf16) {
  if constexpr (kSource == Source::kTable32) {
    return get<F32>(load_constant<4>(row + i * 4), 0);
  } else {
    const Packet<2> value = load_constant<2>(row + i * 2);
    return is_bf16 ? get<BF16>(value, 0) : get<F16>(value, 0);
  }
}

// Brings the packets of a row of threads into L2, for a block to come: a line is asked for by the
// thread of its first packet.
template <int kBytes>
ROPE_DEVICE void prefetch_packets(const char* at, int64_t step, int lane) {
  const auto begins_line = [lane](const char* packet) {
    return lane == 0 || reinterpret_cast<uintptr_t>(packet) % kLine < kBytes;
  };
  if (begins_line(at)) prefetch(at);
  if (begins_line(at + step)) prefetch(at + step);
}

template <typename T, Source kSource, Pairing kPairing, int kBytes, int kHeads>
ROPE_KERNEL void ROPE_MAX_REGISTERS(kHeads == 2 ? 64 : 48)
    rope_row_norm_plain_kernel(ROPE_ARGUMENT RowPlainParams row_params) {
  constexpr int kElements = kBytes / T::kSize;
  constexpr bool kAngles = kSource == Source::kAngles;
  using Heads = PlainHeads<T, kPairing, kBytes, kHeads, true, kHeads>;
  ROPE_SHARED(float, shared, kSharedFactors);
  ROPE_SHARED(float, sums, 2 * kMostWarps);
  const PlainParams& p = row_params.plain;

  // Locate.
  const uint32_t token = block_x(), thread = thread_x();
  const bool is_q = thread < row_params.k_first, is_v = thread >= row_params.v_first;
  const PlainOperand& o = is_q ? p.q : is_v ? p.v : p.k;
  const uint32_t index = thread - (is_q ? 0 : is_v ? row_params.v_first : row_params.k_first);
  const uint32_t group = row_params.head_threads.small_quotient(index);
  const auto lane = static_cast<int>(index - group * row_params.head_threads.divisor);
  const uint32_t head = group * kHeads;
  const auto slice = plain_slice<kPairing, kBytes, kElements, false>(o, lane);
  const char* in = o.in + static_cast<uint64_t>(token) * o.in_token_stride +
                   (head * o.in_head_stride + static_cast<uint32_t>(slice.first));
  const char* position_at = p.position_at(token);
  const auto position_of = [&p, token](uint32_t) {
    return TokenMap::ask(p.positions, p.angles.position_bits, token);
  };
  BlockFactors<decltype(position_of)> factors{p.angles,   token,       1,
                                              p.half_dim, p.sine_flip, position_of};
  settle(in);
  settle(position_at);
  if constexpr (kAngles) factors.aim(p.positions, p.position_bytes);
  // The last threads bring rows of the table into L2 for blocks to come; those of the first blocks
  // while the launch before ends.
  const uint32_t line = row_params.end - 1 - thread;
  const bool turns = p.q.lanes > 0;
  const bool prefetches = !kAngles && turns && line < p.row_lines.divisor;
  if (prefetches && token < kTokensAhead) prefetch_line(p, peek_word(position_at), line);
  wait_for_previous_launch();

  // Load.
  const uint32_t rotary_dim = 2 * p.half_dim.divisor;
  uint32_t position = 0;
  // Not load_constant(): the compiler would move it before the wait.
  if (!kAngles && turns && thread < rotary_dim)
    position = load<4, Hint::kKeep>(position_at).word[0];
  Heads heads;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    heads.head[h] = {};
    if (head + h >= o.num_heads) continue;
    const char* at = in + static_cast<uint64_t>(h) * o.in_head_stride;
    heads.head[h].x = load<kBytes, Hint::kStream>(at);
    heads.head[h].y = load<kBytes, Hint::kStream>(at + slice.step);
  }
  if constexpr (kAngles) {
    factors.begin([&p](const char* at, uint32_t) {
      return TokenMap::ask_at(at, p.angles.position_bits == 64);
    });
  }
  let_next_launch_start();
  if (p.ahead != 0 && p.num_tokens - token > p.ahead) {
    const char* later = in + static_cast<uint64_t>(p.ahead) * o.in_token_stride;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (head + h < o.num_heads)
        prefetch_packets<kBytes>(later + static_cast<uint64_t>(h) * o.in_head_stride, slice.step,
                                 lane);
    }
  }
  if (prefetches && p.num_tokens - token > kTokensAhead)
    prefetch_line(p, load<4, Hint::kKeep>(p.position_at(token + kTokensAhead)).word[0], line);
  const auto store_all = [&] {
    char* out = o.out + static_cast<uint64_t>(token) * o.out_token_stride +
                (head * o.out_head_stride + static_cast<uint32_t>(slice.first));
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (head + h >= o.num_heads) continue;
      char* at = out + static_cast<uint64_t>(h) * o.out_head_stride;
      store<Hint::kStream>(at, heads.head[h].x);
      store<Hint::kStream>(at + slice.step, heads.head[h].y);
    }
  };

  // The token's factors, for all its heads. Both norms. What is shared is read behind the
  // sync_block() of the sums.
  if constexpr (kAngles) {
    factors.finish(shared);
  } else if (turns) {
    const char* row = p.row_at(position);
    for (uint32_t i = thread; i < rotary_dim; i += block_dim_x())
      shared[i] = table_value<kSource>(row, i, p.is_bf16);
  }
  if (is_v) store_all();
  const auto sum_roles = [&](float scale, float* of_warps, float* q_sum, float* k_sum) {
    float sum = 0;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) sum += head_squares<T>(heads.head[h], scale);
    sum = sum_lanes(sum, 32);
    if (thread % 32 == 0) of_warps[thread / 32] = sum;
    sync_block();
    *q_sum = sum_warps(of_warps, 0, row_params.k_first / 32);
    *k_sum = sum_warps(of_warps, row_params.k_first / 32, row_params.v_first / 32);
  };
  float q_sum, k_sum, scaled_q_sum = 0, scaled_k_sum = 0;
  sum_roles(1.0f, sums, &q_sum, &k_sum);
  if (left_range(q_sum) || left_range(k_sum))
    sum_roles(kDownScale, sums + kMostWarps, &scaled_q_sum, &scaled_k_sum);
  if (is_v || head >= o.num_heads) return;
  heads.offset = o.weight_offset;
  const float factor =
      norm_scale(p.eps, o.inverse_count, is_q ? q_sum : k_sum, is_q ? scaled_q_sum : scaled_k_sum)
          .in_one();
  // Not earlier: they come from L1, the same for all tokens, and registers are short.
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    heads.factor[h] = factor;
    const uint32_t of_head = head + h < o.num_heads ? head + h : 0;
    heads.weights[h].load(o, slice, of_head * row_params.head_bytes);
  }

  // Rotate.
  if (slice.rotates) {
    constexpr int kLanePairs = Heads::kShares ? kElements : kElements / 2;
    using Row = FactorRow<Source::kAngles>;
    const Row row =
        Row::of_shared(shared, static_cast<int>(p.half_dim.divisor)).from(lane * kLanePairs);
    typename Heads::FirstFactors first_factors{};
    if constexpr (Heads::kShares) first_factors = row.template load<Heads::kCount>(0);
    heads.turn(first_factors, row, o.lanes * kLanePairs);
  } else {
    heads.only_norm();
  }

  // Store.
  store_all();
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROW_NORM_PLAIN_CUH_
