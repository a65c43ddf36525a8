// rope, variant `naive`: one block per token, one thread per pair and step, in a stride loop over
// the pairs of all heads of Q and then of K. The mapping that vLLM published; what most kernels
// started from.
//
// Element-sized accesses, the table read again for every head (through L1), a division per pair.
// Any layout, any even sizes, any alignment of whole elements.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_NAIVE_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_NAIVE_CUH_

#include "kernels/cuda/device/index.cuh"
#include "kernels/cuda/device/rotation.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

struct NaiveParams {
  Operand q, k;
  TableRef table;
  Divisor half_dim;  // rotary_dim / 2
  int32_t head_dim = 0, rotary_dim = 0;
  bool copy_pass_through = false;
};

template <typename T, Pairing kPairing, int kTableSize>
ROPE_DEVICE void naive_rotate(const Operand& operand, int64_t token,
                              const FactorRow<kTableSize>& row, const Divisor& half_dim) {
  const int half = static_cast<int>(half_dim.divisor), rotary_dim = 2 * half;
  const int pairs = static_cast<int>(operand.heads.divisor) * half;
  for (int i = static_cast<int>(thread_x()); i < pairs; i += static_cast<int>(block_dim_x())) {
    const int head = static_cast<int>(half_dim.quotient(static_cast<uint64_t>(i)));
    const int pair = i - head * half;
    const char* in = operand.in_row(token, head);
    char* out = operand.out_row(token, head);
    const int first = pair_first(kPairing, pair) * T::kSize;
    const int second = pair_second(kPairing, pair, rotary_dim) * T::kSize;
    Packet<T::kSize> x = load<T::kSize, Hint::kKeep>(in + first);
    Packet<T::kSize> y = load<T::kSize, Hint::kKeep>(in + second);
    rotate_halves<T>(x, y, row.from(pair));
    store<Hint::kKeep>(out + first, x);
    store<Hint::kKeep>(out + second, y);
  }
}

template <typename T>
ROPE_DEVICE void naive_copy(const Operand& operand, int64_t token, int rotary_dim, int head_dim) {
  const int width = head_dim - rotary_dim;
  const int count = static_cast<int>(operand.heads.divisor) * width;
  for (int i = static_cast<int>(thread_x()); i < count; i += static_cast<int>(block_dim_x())) {
    const int offset = (rotary_dim + i % width) * T::kSize;
    store<Hint::kKeep>(operand.out_row(token, i / width) + offset,
                       load<T::kSize, Hint::kKeep>(operand.in_row(token, i / width) + offset));
  }
}

template <typename T, int kTableSize, Pairing kPairing>
ROPE_KERNEL void rope_naive_kernel(ROPE_ARGUMENT NaiveParams p) {
  const int64_t token = block_x();
  const auto row = FactorRow<kTableSize>::of(p.table, token, p.rotary_dim / 2);
  naive_rotate<T, kPairing>(p.q, token, row, p.half_dim);
  naive_rotate<T, kPairing>(p.k, token, row, p.half_dim);
  if (p.copy_pass_through) {
    naive_copy<T>(p.q, token, p.rotary_dim, p.head_dim);
    naive_copy<T>(p.k, token, p.rotary_dim, p.head_dim);
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_NAIVE_CUH_
