// The limit family: streaming kernels that walk the bytes of a case (the same rows, strides,
// skipped dims and streams, in place or not) and read the same positions, table rows, bias and
// weights, without arithmetic. The fastest of them is what the memory system allows for these
// addresses.
//
// Mapping: the dims of each head that an op touches are a segment; segments that touch each other
// are joined, up to the whole operand. One packet per thread and step, in memory order: Q, K, V,
// then the table rows of all tokens and what else is only read. In place a packet is stored back as
// it was, so that data stays intact. A padded output has no order of its own: there each packet
// looks up its token's row, as the op must.
#ifndef ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_
#define ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_

#include "kernels/cuda/device/factors.cuh"

namespace rope_bench::device {

// Segment s of an operand lies at (i0 * stride[0] + i1 * stride[1] + i2 * stride[2]), i0 counting
// fastest.
inline constexpr int kStreamLevels = 3;
struct StreamOperand {
  Operand operand;  // based at the first dim of a segment
  int64_t in_stride[kStreamLevels] = {}, out_stride[kStreamLevels] = {};  // bytes
  Divisor count[kStreamLevels - 1];
  Divisor packets;     // of one segment
  bool flat = false;   // one segment
  bool small = false;  // 32-bit arithmetic finds every segment
  int64_t num_packets = 0;
  uint32_t blocks = 0;
};

// Read once, whatever the number of tokens.
struct StreamRange {
  const char* data = nullptr;
  int64_t packets = 0;  // of 4 bytes
  uint32_t blocks = 0;
};
inline constexpr int kStreamRanges = 5;  // positions, their starts, bias, two weights

struct StreamParams {
  StreamOperand q, k, v;
  TokenMap tokens;
  Table table;
  // Tokens end where the sequences do: behind lies padding. Null: all tokens are some sequence's.
  const int32_t* end = nullptr;
  Divisor row_packets;  // packets of one table row
  int64_t table_packets = 0;
  uint32_t table_blocks = 0;
  StreamRange ranges[kStreamRanges];
};

struct StreamAddress {
  const char* from;
  char* to;
};

ROPE_DEVICE uint64_t divide(const Divisor& d, uint64_t n, bool small) {
  return small ? d.small_quotient(static_cast<uint32_t>(n)) : d.quotient(n);
}

// kMapped: segments are (token, head), where the token map says; false for padding.
template <bool kMapped>
ROPE_DEVICE bool stream_address(const StreamParams& p, const StreamOperand& o, int64_t i, int bytes,
                                StreamAddress* address) {
  if (!kMapped && o.flat) {
    *address = {o.operand.in + i * bytes, o.operand.out + i * bytes};
    return true;
  }
  const uint64_t segment = divide(o.packets, static_cast<uint64_t>(i), o.small);
  const int64_t offset = (i - static_cast<int64_t>(segment * o.packets.divisor)) * bytes;
  if constexpr (kMapped) {
    const uint64_t token = divide(o.operand.heads, segment, o.small);
    const auto head = static_cast<int64_t>(segment - token * o.operand.heads.divisor);
    const Place at = p.tokens.locate(static_cast<int64_t>(token));
    *address = {o.operand.in_row(at, head) + offset, o.operand.out_row(at, head) + offset};
    return !at.is_padding;
  }
  const uint64_t rest = divide(o.count[0], segment, o.small);
  const auto i0 = static_cast<int64_t>(segment - rest * o.count[0].divisor);
  if (rest == 0) {
    *address = {o.operand.in + i0 * o.in_stride[0] + offset,
                o.operand.out + i0 * o.out_stride[0] + offset};
    return true;
  }
  const auto i2 = static_cast<int64_t>(divide(o.count[1], rest, o.small));
  const int64_t i1 = static_cast<int64_t>(rest) - i2 * o.count[1].divisor;
  *address = {
      o.operand.in + i0 * o.in_stride[0] + i1 * o.in_stride[1] + i2 * o.in_stride[2] + offset,
      o.operand.out + i0 * o.out_stride[0] + i1 * o.out_stride[1] + i2 * o.out_stride[2] + offset};
  return true;
}

// The kSteps packets of a thread, `distance` apart: all are asked for before the first is stored.
// Where nothing has to be looked up, addresses are known before the launch may touch memory.
template <int kBytes, Hint kHint, int kSteps, bool kMapped>
ROPE_DEVICE void stream_packets(const StreamParams& p, const StreamOperand& o, int64_t first,
                                uint32_t distance) {
  StreamAddress address[kSteps];
  bool exists[kSteps];
  Packet<kBytes> packet[kSteps];
  if constexpr (kMapped) wait_for_previous_launch();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int64_t i = first + step * int64_t{distance};
    exists[step] = i < o.num_packets && stream_address<kMapped>(p, o, i, kBytes, &address[step]);
    if (exists[step]) settle(address[step].from);
  }
  if constexpr (!kMapped) {
    wait_for_previous_launch();
    if (p.end != nullptr) {
      const int64_t end = TokenMap::load_int32(p.end, 0) * o.operand.in_token_stride;
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        exists[step] = exists[step] && address[step].from - o.operand.in < end;
    }
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (exists[step]) packet[step] = load<kBytes, kHint>(address[step].from);
  }
  let_next_launch_start();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (exists[step]) store<kHint>(address[step].to, packet[step]);
  }
}

// Loads are volatile: they happen although nobody wants the values.
template <int kTableBytes, bool kMapped>
ROPE_DEVICE void stream_table(const StreamParams& p, int64_t i) {
  if (i >= p.table_packets) return;
  const int64_t token = static_cast<int64_t>(p.row_packets.quotient(static_cast<uint64_t>(i)));
  const int64_t offset = (i - token * p.row_packets.divisor) * kTableBytes;
  int64_t position;
  if (!kMapped && p.tokens.source == ROPE_POSITIONS_IDS) {
    position = p.tokens.id(token);
  } else {
    const Place at = p.tokens.locate(token);
    if (at.is_padding) return;
    position = at.position;
  }
  (void)load<kTableBytes, Hint::kKeep>(p.table.row(position) + offset);
}

// Streams packets of kBytes with kSteps packets a thread.
template <int kBytes, Hint kHint, int kSteps, int kTableBytes, bool kMapped>
ROPE_KERNEL void stream_kernel(ROPE_ARGUMENT StreamParams p) {
  uint32_t block = block_x();
  const uint32_t per_step = block_dim_x();
  if (block < p.q.blocks + p.k.blocks + p.v.blocks) {
    const bool is_q = block < p.q.blocks;
    if (!is_q) block -= p.q.blocks;
    const bool is_k = !is_q && block < p.k.blocks;
    if (!is_q && !is_k) block -= p.k.blocks;
    const StreamOperand& o = is_q ? p.q : is_k ? p.k : p.v;
    const int64_t first = static_cast<int64_t>(block) * per_step * kSteps + thread_x();
    stream_packets<kBytes, kHint, kSteps, kMapped>(p, o, first, per_step);
    return;
  }
  wait_for_previous_launch();
  block -= p.q.blocks + p.k.blocks + p.v.blocks;
  if (block < p.table_blocks) {
    stream_table<kTableBytes, kMapped>(p, static_cast<int64_t>(block) * per_step + thread_x());
    return;
  }
  block -= p.table_blocks;
  for (const StreamRange& range : p.ranges) {
    const int64_t i = static_cast<int64_t>(block) * per_step + thread_x();
    if (block < range.blocks) {
      if (i < range.packets) (void)load<4, Hint::kKeep>(range.data + i * 4);
      return;
    }
    block -= range.blocks;
  }
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_STREAM_CUH_
