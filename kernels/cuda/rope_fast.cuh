// rope, variant `fast`: rotates Q and K in one launch at the speed of a plain copy.
//
//   (x', y') = (x cos - y sin, y cos + x sin)      q [T, Hq, d], k [T, Hkv, d], table f32 [rows, r]
//   f32, f16, bf16 in memory; float32 arithmetic; one rounding.
//
// Mapping. The items (token, head) of Q and then of K are laid out in memory order; thread row y of
// a block takes one item, and its `lanes` threads one packet of each half of the rotated dims: 2
// packets of up to 16 bytes a thread. Consecutive blocks touch consecutive bytes, as a streaming
// kernel does, which is worth 5 % from 1024 tokens up. Each element is loaded once and stored once;
// the row of the table is shared by the heads of a token through L1. Two packets and a quarter of a
// table row at a time stay under 40 registers; occupancy is what hides the latency. Out of place,
// further threads of the row copy the pass-through dims. Few tokens want many narrow threads:
// config_of() picks the packet.
//
// Bytes: 2 * T * (Hq + Hkv) * r elements (d instead of r out of place), T table rows, T positions.
// Limits: why_not_fast().
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_

#include "kernels/cuda/device/index.cuh"
#include "kernels/cuda/device/rotation.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

struct FastParams {
  Operand q, k;
  TableRef table;
  int64_t num_tokens = 0;
  uint32_t q_blocks = 0;     // blocks below this index work on q, the others on k
  int32_t lanes = 0;         // threads of an item that rotate
  int32_t packets = 0;       // of the rotated dims of one head
  int32_t pass_packets = 0;  // of the pass-through dims; 0 in place
  int32_t half_dim = 0;      // rotary_dim / 2
};

template <typename T, Pairing kPairing, int kBytes, Hint kHint>
ROPE_KERNEL void rope_fast_kernel(const FastParams p) {
  constexpr int kElements = kBytes / T::kSize;

  // Locate: which token and head this row of threads has.
  const bool is_q = block_x() < p.q_blocks;
  const Operand& operand = is_q ? p.q : p.k;
  const uint64_t first_item =
      static_cast<uint64_t>(is_q ? block_x() : block_x() - p.q_blocks) * block_dim_y();
  const uint64_t first_token = operand.heads.quotient(first_item);
  const uint32_t ahead =
      static_cast<uint32_t>(first_item - first_token * operand.heads.divisor) + thread_y();
  const uint32_t tokens_ahead = operand.heads.small_quotient(ahead);
  const int64_t token = static_cast<int64_t>(first_token) + tokens_ahead;
  const uint32_t head = ahead - tokens_ahead * operand.heads.divisor;
  if (token >= p.num_tokens) return;
  const char* in = operand.in_row(token, head);
  char* out = operand.out_row(token, head);
  int lane = static_cast<int>(thread_x());

  // Copy: pass-through dims, two packets a thread.
  if (lane >= p.lanes) {
    const int pass_lanes = (p.pass_packets + 1) / 2;
    lane -= p.lanes;
    for (int i = lane; i < p.pass_packets; i += pass_lanes) {
      const int offset = (p.packets + i) * kBytes;
      store<kHint>(out + offset, load<kBytes, kHint>(in + offset));
    }
    return;
  }

  // Load: tensors first, they come from afar; then the way to the table. A packet of one element
  // holds no gptj pair: then a thread has the two elements of one pair.
  constexpr bool kHalves = kPairing == Pairing::kNeox || kElements == 1;
  constexpr bool kSplitPair = kPairing == Pairing::kGptj && kElements == 1;
  const int first = (kSplitPair ? 2 * lane : lane) * kBytes;
  const int second = (kSplitPair ? 2 * lane + 1 : p.lanes + lane) * kBytes;
  // An odd number of gptj packets leaves the last thread with one.
  const bool has_second = kHalves || p.lanes + lane < p.packets;
  Packet<kBytes> x = load<kBytes, kHint>(in + first);
  Packet<kBytes> y = has_second ? load<kBytes, kHint>(in + second) : x;
  const float* cosines = p.table.row(token);
  const float* sines = cosines + p.half_dim;

  // Rotate.
  if constexpr (kHalves) {
    rotate_halves<T>(x, y, cosines + lane * kElements, sines + lane * kElements);
  } else {
    constexpr int kPairs = kElements / 2;
    rotate_adjacent<T>(x, cosines + lane * kPairs, sines + lane * kPairs);
    if (has_second) {
      const int pair = (p.lanes + lane) * kPairs;
      rotate_adjacent<T>(y, cosines + pair, sines + pair);
    }
  }

  // Store.
  store<kHint>(out + first, x);
  if (has_second) store<kHint>(out + second, y);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_CUH_
