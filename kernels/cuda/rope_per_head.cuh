// rope, variant `per_head`: one group of threads per (token, head), as the Triton kernels tile it.
// A warp takes one head: each lane a pair, in steps of a warp; four heads a block.
//
// The table is read by every head; accesses are one element wide.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_PER_HEAD_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_PER_HEAD_CUH_

#include "kernels/cuda/device/index.cuh"
#include "kernels/cuda/device/rotation.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

struct PerHeadParams {
  Operand q, k;
  Divisor all_heads;  // num_heads + num_kv_heads
  TableRef table;
  int64_t num_tokens = 0;
  int32_t head_dim = 0, rotary_dim = 0;
  bool copy_pass_through = false;
};

template <typename T, int kTableSize, Pairing kPairing>
ROPE_KERNEL void rope_per_head_kernel(ROPE_ARGUMENT PerHeadParams p) {
  // Locate: item = (token, head of Q or K).
  const uint64_t item = static_cast<uint64_t>(block_x()) * block_dim_y() + thread_y();
  const int64_t token = static_cast<int64_t>(p.all_heads.quotient(item));
  if (token >= p.num_tokens) return;
  uint32_t head = static_cast<uint32_t>(item - static_cast<uint64_t>(token) * p.all_heads.divisor);
  const bool is_q = head < p.q.heads.divisor;
  if (!is_q) head -= p.q.heads.divisor;
  const Operand& operand = is_q ? p.q : p.k;
  const char* in = operand.in_row(token, head);
  char* out = operand.out_row(token, head);
  const int half = p.rotary_dim / 2;
  const auto row = FactorRow<kTableSize>::of(p.table, token, half);

  for (int pair = static_cast<int>(thread_x()); pair < half;
       pair += static_cast<int>(block_dim_x())) {
    const int first = pair_first(kPairing, pair) * T::kSize;
    const int second = pair_second(kPairing, pair, p.rotary_dim) * T::kSize;
    Packet<T::kSize> x = load<T::kSize, Hint::kKeep>(in + first);
    Packet<T::kSize> y = load<T::kSize, Hint::kKeep>(in + second);
    rotate_halves<T>(x, y, row.from(pair));
    store<Hint::kKeep>(out + first, x);
    store<Hint::kKeep>(out + second, y);
  }
  if (!p.copy_pass_through) return;
  for (int dim = p.rotary_dim + static_cast<int>(thread_x()); dim < p.head_dim;
       dim += static_cast<int>(block_dim_x())) {
    store<Hint::kKeep>(out + dim * T::kSize, load<T::kSize, Hint::kKeep>(in + dim * T::kSize));
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_PER_HEAD_CUH_
