#include "kernels/cuda/stream.cuh"

#include "kernels/arguments.h"
#include "kernels/cuda/launchers.h"

namespace rope_bench::device {
namespace {

// The largest power of two up to `most` that divides all of `values`.
int common_power(int most, std::initializer_list<int64_t> values) {
  int power = most;
  for (const int64_t value : values) {
    while (value % power != 0) power /= 2;
  }
  return power;
}

int64_t address(const void* p) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p)); }

// Two levels of segments with touching ones joined; lengths in bytes until packets are known.
struct Segments {
  int64_t segment = 0, inner = 1, outer = 1;
  int64_t in_inner = 0, in_outer = 0, out_inner = 0, out_outer = 0;
};

Segments segments_of(const RopeTensor& t, const RopeKernelArgs& args) {
  const int64_t size = element_size(args.dtype);
  Segments s;
  s.segment = size * (in_place(t) ? args.rotary_dim : args.head_dim);
  s.inner = t.num_heads;
  s.outer = args.num_tokens;
  s.in_inner = t.in_head_stride * size;
  s.out_inner = t.out_head_stride * size;
  s.in_outer = t.in_token_stride * size;
  s.out_outer = t.out_token_stride * size;
  if (s.inner == 1 || (s.in_inner == s.segment && s.out_inner == s.segment)) {
    s.segment *= s.inner;
    s.inner = 1;
  }
  if (s.inner == 1 && (s.outer == 1 || (s.in_outer == s.segment && s.out_outer == s.segment))) {
    s.segment *= s.outer;
    s.outer = 1;
  }
  return s;
}

int packet_of(const RopeTensor& t, const Segments& s, int most) {
  const int64_t in_inner = s.inner > 1 ? s.in_inner : 0, out_inner = s.inner > 1 ? s.out_inner : 0;
  const int64_t in_outer = s.outer > 1 ? s.in_outer : 0, out_outer = s.outer > 1 ? s.out_outer : 0;
  return common_power(
      most, {s.segment, in_inner, out_inner, in_outer, out_outer, address(t.in), address(t.out)});
}

StreamOperand operand_of(const RopeTensor& t, const Segments& s, int packet_bytes) {
  StreamOperand o;
  o.in = static_cast<const char*>(t.in);
  o.out = static_cast<char*>(t.out);
  o.in_inner = s.in_inner;
  o.in_outer = s.in_outer;
  o.out_inner = s.out_inner;
  o.out_outer = s.out_outer;
  o.inner = Divisor::of(static_cast<uint32_t>(s.inner));
  o.flat = s.inner == 1 && s.outer == 1;
  const int64_t packets = s.segment / packet_bytes;
  if (!o.flat) o.packets = Divisor::of(static_cast<uint32_t>(packets));
  o.num_packets = packets * s.inner * s.outer;
  return o;
}

// Sizes of packets that the table is read in; rows are cached, so that two do for what is narrow.
int table_packet(int most) { return most == 16 ? 16 : most >= 4 ? 4 : 2; }

template <int kBytes, Hint kHint, int kSteps>
int32_t start(const StreamParams& p, const LaunchShape& shape, int table_bytes, void* on) {
  if (table_bytes == 16) return launch(stream_kernel<kBytes, kHint, kSteps, 16>, shape, on, p);
  if (table_bytes == 2) return launch(stream_kernel<kBytes, kHint, kSteps, 2>, shape, on, p);
  return launch(stream_kernel<kBytes, kHint, kSteps, 4>, shape, on, p);
}

template <int kBytes>
int32_t start_with(const StreamConfig& config, const StreamParams& p, const LaunchShape& shape,
                   int table_bytes, void* on) {
  if (config.steps == 2) {
    return config.stream ? start<kBytes, Hint::kStream, 2>(p, shape, table_bytes, on)
                         : start<kBytes, Hint::kKeep, 2>(p, shape, table_bytes, on);
  }
  return config.stream ? start<kBytes, Hint::kStream, 1>(p, shape, table_bytes, on)
                       : start<kBytes, Hint::kKeep, 1>(p, shape, table_bytes, on);
}

}  // namespace

int32_t why_not_stream(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  return why_not_rope(args, reason, reason_size);
}

int32_t launch_stream(const RopeKernelArgs& args, const StreamConfig& config) {
  if (args.num_tokens == 0) return 0;
  const Segments q = segments_of(args.q, args), k = segments_of(args.k, args);
  const int q_bytes = packet_of(args.q, q, config.max_packet_bytes);
  const int bytes =
      q_bytes < packet_of(args.k, k, q_bytes) ? q_bytes : packet_of(args.k, k, q_bytes);
  const int64_t table_size = element_size(args.table_dtype);
  const int64_t row_bytes = table_size * args.rotary_dim;
  const int table_bytes = table_packet(
      common_power(16, {row_bytes, table_size * args.table_row_stride, address(args.table)}));

  StreamParams p;
  p.q = operand_of(args.q, q, bytes);
  p.k = operand_of(args.k, k, bytes);
  p.table = TableRef::of(args);
  p.row_packets = Divisor::of(static_cast<uint32_t>(row_bytes / table_bytes));
  p.table_packets = args.num_tokens * (row_bytes / table_bytes);
  const auto blocks = [&](int64_t packets, int64_t steps) {
    const int64_t per_block = config.threads * steps;
    return static_cast<uint64_t>((packets + per_block - 1) / per_block);
  };
  LaunchShape shape;
  shape.overlap = config.overlap;
  shape.block_x = static_cast<uint32_t>(config.threads);
  p.q_blocks = static_cast<uint32_t>(blocks(p.q.num_packets, config.steps));
  p.k_blocks = static_cast<uint32_t>(blocks(p.k.num_packets, config.steps));
  shape.blocks = uint64_t{p.q_blocks} + p.k_blocks + blocks(p.table_packets, 1);
  switch (bytes) {
    case 16:
      return start_with<16>(config, p, shape, table_bytes, args.stream);
    case 8:
      return start_with<8>(config, p, shape, table_bytes, args.stream);
    case 4:
      return start_with<4>(config, p, shape, table_bytes, args.stream);
    default:
      return start_with<2>(config, p, shape, table_bytes, args.stream);
  }
}

}  // namespace rope_bench::device
