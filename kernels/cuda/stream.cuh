// The limit family: streaming kernels that walk the bytes of a case (the same rows, strides,
// skipped dims and streams, in place or not) and read the same positions and table rows, without
// arithmetic. The fastest of them is what the memory system allows for these addresses.
//
// Mapping: the rotated dims (all dims out of place) of each head are a segment; segments that touch
// are joined, up to the whole operand. One packet per thread and step, in memory order: Q, K, then
// the table rows of all tokens. In place a packet is stored back as it was, so that data stays
// intact.
#ifndef ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_
#define ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_

#include "kernels/cuda/device/index.cuh"

namespace rope_bench::device {

// Segments of one operand: segment s lies at (s / inner) * outer_stride + (s % inner) *
// inner_stride.
struct StreamOperand {
  const char* in = nullptr;
  char* out = nullptr;
  int64_t in_outer = 0, in_inner = 0, out_outer = 0, out_inner = 0;  // bytes
  Divisor inner;
  Divisor packets;    // of one segment
  bool flat = false;  // one segment
  int64_t num_packets = 0;
};

struct StreamParams {
  StreamOperand q, k;
  TableRef table;
  Divisor row_packets;  // packets of one table row
  int64_t table_packets = 0;
  uint32_t q_blocks = 0, k_blocks = 0;
};

template <int kBytes, Hint kHint>
ROPE_DEVICE void stream_packet(const StreamOperand& o, int64_t i) {
  if (i >= o.num_packets) return;
  int64_t from = i * kBytes, to = from;
  if (!o.flat) {
    const uint64_t segment = o.packets.quotient(static_cast<uint64_t>(i));
    const int64_t offset = (i - static_cast<int64_t>(segment * o.packets.divisor)) * kBytes;
    const int64_t outer = static_cast<int64_t>(o.inner.quotient(segment));
    const int64_t inner = static_cast<int64_t>(segment) - outer * o.inner.divisor;
    from = outer * o.in_outer + inner * o.in_inner + offset;
    to = outer * o.out_outer + inner * o.out_inner + offset;
  }
  const Packet<kBytes> packet = load<kBytes, kHint>(o.in + from);
  let_next_launch_start();
  store<kHint>(o.out + to, packet);
}

template <int kTableBytes>
ROPE_DEVICE void stream_table(const StreamParams& p, int64_t i) {
  if (i >= p.table_packets) return;
  const int64_t token = static_cast<int64_t>(p.row_packets.quotient(static_cast<uint64_t>(i)));
  const int64_t offset = (i - token * p.row_packets.divisor) * kTableBytes;
  // The load is volatile: it happens although nobody wants the value.
  (void)load<kTableBytes, Hint::kKeep>(p.table.row(token) + offset);
}

// Streams packets of kBytes with kSteps packets a thread.
template <int kBytes, Hint kHint, int kSteps, int kTableBytes>
ROPE_KERNEL void stream_kernel(ROPE_ARGUMENT StreamParams p) {
  const uint32_t block = block_x();
  const uint32_t per_step = block_dim_x();
  wait_for_previous_launch();
  if (block < p.q_blocks + p.k_blocks) {
    const bool is_q = block < p.q_blocks;
    const StreamOperand& o = is_q ? p.q : p.k;
    const int64_t first =
        static_cast<int64_t>(is_q ? block : block - p.q_blocks) * per_step * kSteps + thread_x();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      stream_packet<kBytes, kHint>(o, first + step * per_step);
    return;
  }
  stream_table<kTableBytes>(
      p, static_cast<int64_t>(block - p.q_blocks - p.k_blocks) * per_step + thread_x());
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_
