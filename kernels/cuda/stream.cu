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

struct Level {
  int64_t count, in_stride, out_stride;  // bytes
};

// What an operand's bytes look like: a segment, and levels of repetition from the inner to the
// outer one, as few as possible.
struct Segments {
  int64_t segment = 0, first = 0;  // bytes of a segment, and its place in a head
  Level level[kStreamLevels] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};

  bool is_flat() const { return level[0].count == 1; }
  void add(const Level& added) {
    if (added.count == 1) return;
    int at = 0;
    while (at < kStreamLevels && level[at].count > 1) ++at;
    // Kept in the order of memory.
    while (at > 0 && level[at - 1].in_stride > added.in_stride) {
      level[at] = level[at - 1];
      --at;
    }
    level[at] = added;
  }
  void join() {
    while (!is_flat() && level[0].in_stride == segment && level[0].out_stride == segment) {
      segment *= level[0].count;
      for (int i = 0; i + 1 < kStreamLevels; ++i) level[i] = level[i + 1];
      level[kStreamLevels - 1] = {1, 0, 0};
    }
    for (int i = 0; i + 1 < kStreamLevels;) {
      Level &inner = level[i], &outer = level[i + 1];
      if (outer.count == 1) return;
      if (outer.in_stride != inner.count * inner.in_stride ||
          outer.out_stride != inner.count * inner.out_stride) {
        ++i;
        continue;
      }
      inner.count *= outer.count;
      for (int j = i + 1; j + 1 < kStreamLevels; ++j) level[j] = level[j + 1];
      level[kStreamLevels - 1] = {1, 0, 0};
    }
  }
};

// Sequences one after the other: padding can only follow the last.
bool ends_with_padding(const RopeKernelArgs& args) {
  if (args.position_source != ROPE_POSITIONS_CU_SEQLENS || args.num_tokens <= 1) return false;
  for (const RopeTensor* t : {&args.q, &args.k, &args.v}) {
    if (t->in_token_stride < t->num_heads * t->in_head_stride) return false;  // heads first
  }
  return args.in_batch_tokens == 0;
}

// Where any token may be padding, or rows are in another order.
bool is_mapped(const RopeKernelArgs& args) {
  return (is_packed(args) && !ends_with_padding(args)) || args.padded_output != 0 ||
         args.out_rows != nullptr || args.in_batch_tokens != args.out_batch_tokens ||
         (args.in_batch_tokens != 0 && args.num_tokens % args.in_batch_tokens != 0);
}

Segments segments_of(const RopeTensor& t, const RopeKernelArgs& args, bool is_v) {
  const int64_t size = element_size(args.dtype);
  const bool changed = args.bias != nullptr || (!is_v && args.norm != ROPE_NORM_NONE);
  const bool rotated_only = in_place(t) && !changed;
  Segments s;
  if (is_v) {
    s.segment = rotated_only ? 0 : args.head_dim * size;
  } else {
    s.segment = (rotated_only ? args.rotary_dim : head_width(args, t)) * size;
    s.first = rotated_only ? t.rotary_offset : 0;
  }
  if (is_mapped(args)) return s;
  const int64_t batch_tokens = args.in_batch_tokens;
  s.add({t.num_heads, t.in_head_stride * size, t.out_head_stride * size});
  s.add({batch_tokens == 0 ? args.num_tokens : batch_tokens, t.in_token_stride * size,
         t.out_token_stride * size});
  if (batch_tokens != 0) {
    s.add({args.num_tokens / batch_tokens, t.in_batch_stride * size, t.out_batch_stride * size});
  }
  s.join();
  return s;
}

int packet_of(const RopeTensor& t, const Segments& s, const RopeKernelArgs& args, int most) {
  if (t.num_heads == 0 || s.segment == 0) return most;
  const int64_t size = element_size(args.dtype);
  int packet = common_power(most, {s.segment, s.first * size, address(t.in), address(t.out)});
  if (is_mapped(args)) {
    const int64_t many = args.num_tokens > 1 ? size : 0, heads = t.num_heads > 1 ? size : 0;
    packet = common_power(
        packet, {t.in_token_stride * many, t.out_token_stride * many, t.in_head_stride * heads,
                 t.out_head_stride * heads, t.in_batch_stride * size, t.out_batch_stride * size});
  }
  for (const Level& level : s.level)
    packet = common_power(packet, {level.in_stride, level.out_stride});
  return packet;
}

StreamOperand operand_of(const RopeTensor& t, const Segments& s, const RopeKernelArgs& args,
                         int packet_bytes) {
  StreamOperand o;
  if (t.num_heads == 0 || s.segment == 0) return o;
  o.operand = Operand::of(t, element_size(args.dtype), s.first);
  const bool mapped = is_mapped(args);
  o.flat = !mapped && s.is_flat();
  int64_t segments = mapped ? args.num_tokens * t.num_heads : 1;
  int64_t largest_divisor = mapped ? t.num_heads : 1;
  for (int i = 0; i < kStreamLevels; ++i) {
    o.in_stride[i] = s.level[i].in_stride;
    o.out_stride[i] = s.level[i].out_stride;
    if (i + 1 < kStreamLevels) o.count[i] = Divisor::of(static_cast<uint32_t>(s.level[i].count));
    segments *= s.level[i].count;
    if (s.level[i].count > largest_divisor && i + 1 < kStreamLevels)
      largest_divisor = s.level[i].count;
  }
  const int64_t packets = s.segment / packet_bytes;
  if (!o.flat) o.packets = Divisor::of(static_cast<uint32_t>(packets));
  o.num_packets = packets * segments;
  // The last block reaches up to 1024 packets beyond.
  o.small = (o.num_packets + 1024) <= 0xffffffff / packets &&
            segments + 1024 <= 0xffffffff / largest_divisor;
  return o;
}

// Sizes of packets that the table is read in; rows are cached, so that two do for what is narrow.
int table_packet(int most) { return most == 16 ? 16 : most >= 4 ? 4 : 2; }

// What is read beside tensors and table rows. Positions with the table's rows, where there are
// some.
void add_ranges(const RopeKernelArgs& args, StreamParams* p) {
  int used = 0;
  const auto add = [&](const void* data, int64_t bytes) {
    if (data == nullptr || bytes < 4) return;
    // Whole words: an odd element at an odd place is left out.
    const int64_t skipped = address(data) % 4 == 0 ? 0 : 2;
    p->ranges[used].data = static_cast<const char*>(data) + skipped;
    p->ranges[used].packets = (bytes - skipped) / 4;
    ++used;
  };
  const int64_t size = element_size(args.dtype);
  if (args.table == nullptr) {
    const bool sequences = args.position_source == ROPE_POSITIONS_CU_SEQLENS;
    const int64_t width = args.position_source == ROPE_POSITIONS_IDS ? args.position_bits / 8 : 4;
    add(args.positions, sequences ? (args.num_sequences + 1) * 4 : args.num_tokens * width);
    if (sequences) add(args.sequence_starts, args.num_sequences * 4);
  }
  const int64_t heads = int64_t{args.q.num_heads} + args.k.num_heads + args.v.num_heads;
  add(args.bias, heads * args.head_dim * size);
  if (args.norm == ROPE_NORM_NONE) return;
  const bool row = args.norm == ROPE_NORM_ROW;
  add(args.q_weight, (row ? args.q.num_heads : 1) * args.head_dim * size);
  add(args.k_weight, (row ? args.k.num_heads : 1) * args.head_dim * size);
}

template <int kBytes, Hint kHint, int kSteps, bool kMapped>
int32_t start(const StreamParams& p, const LaunchShape& shape, int table_bytes, void* on) {
  if (table_bytes == 16)
    return launch(stream_kernel<kBytes, kHint, kSteps, 16, kMapped>, shape, on, p);
  if (table_bytes == 2)
    return launch(stream_kernel<kBytes, kHint, kSteps, 2, kMapped>, shape, on, p);
  return launch(stream_kernel<kBytes, kHint, kSteps, 4, kMapped>, shape, on, p);
}

template <int kBytes, bool kMapped>
int32_t start_with(const StreamConfig& config, const StreamParams& p, const LaunchShape& shape,
                   int table_bytes, void* on) {
  constexpr Hint kStream = Hint::kStream, kKeep = Hint::kKeep;
  if (config.steps == 2) {
    return config.stream ? start<kBytes, kStream, 2, kMapped>(p, shape, table_bytes, on)
                         : start<kBytes, kKeep, 2, kMapped>(p, shape, table_bytes, on);
  }
  return config.stream ? start<kBytes, kStream, 1, kMapped>(p, shape, table_bytes, on)
                       : start<kBytes, kKeep, 1, kMapped>(p, shape, table_bytes, on);
}

template <int kBytes>
int32_t start_any(const RopeKernelArgs& args, const StreamConfig& config, const StreamParams& p,
                  const LaunchShape& shape, int table_bytes) {
  return is_mapped(args) ? start_with<kBytes, true>(config, p, shape, table_bytes, args.stream)
                         : start_with<kBytes, false>(config, p, shape, table_bytes, args.stream);
}

int smaller(int a, int b) { return a < b ? a : b; }

}  // namespace

int32_t why_not_stream(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  // Without a table the turns per position are no concern of the limit.
  RopeKernelArgs a = *args;
  const uint64_t none = 0;
  if (a.turns == nullptr) a.turns = &none;
  return why_not_any(&a, a.table != nullptr, reason, reason_size);
}

int32_t launch_stream(const RopeKernelArgs& args, const StreamConfig& config) {
  if (args.num_tokens == 0) return 0;
  const Segments q = segments_of(args.q, args, false), k = segments_of(args.k, args, false),
                 v = segments_of(args.v, args, true);
  int bytes = packet_of(args.q, q, args, config.max_packet_bytes);
  bytes = smaller(bytes, packet_of(args.k, k, args, bytes));
  bytes = smaller(bytes, packet_of(args.v, v, args, bytes));

  StreamParams p;
  p.q = operand_of(args.q, q, args, bytes);
  p.k = operand_of(args.k, k, args, bytes);
  p.v = operand_of(args.v, v, args, bytes);
  p.tokens = TokenMap::of(args);
  p.table = Table::of(args);
  if (ends_with_padding(args))
    p.end = static_cast<const int32_t*>(args.positions) + args.num_sequences;
  const auto blocks = [&](int64_t packets, int64_t steps) {
    const int64_t per_block = config.threads * steps;
    return static_cast<uint32_t>((packets + per_block - 1) / per_block);
  };
  LaunchShape shape;
  shape.overlap = config.overlap;
  shape.block_x = static_cast<uint32_t>(config.threads);
  for (StreamOperand* o : {&p.q, &p.k, &p.v}) {
    o->blocks = blocks(o->num_packets, config.steps);
    shape.blocks += o->blocks;
  }
  int table_bytes = 16;
  if (args.table != nullptr) {
    const int64_t table_size = element_size(args.table_dtype);
    const int64_t row_bytes = table_size * args.rotary_dim;
    table_bytes = table_packet(
        common_power(16, {row_bytes, table_size * args.table_row_stride, address(args.table)}));
    p.row_packets = Divisor::of(static_cast<uint32_t>(row_bytes / table_bytes));
    p.table_packets = args.num_tokens * (row_bytes / table_bytes);
    p.table_blocks = blocks(p.table_packets, 1);
    shape.blocks += p.table_blocks;
  }
  add_ranges(args, &p);
  for (StreamRange& range : p.ranges) {
    range.blocks = blocks(range.packets, 1);
    shape.blocks += range.blocks;
  }
  switch (bytes) {
    case 16:
      return start_any<16>(args, config, p, shape, table_bytes);
    case 8:
      return start_any<8>(args, config, p, shape, table_bytes);
    case 4:
      return start_any<4>(args, config, p, shape, table_bytes);
    default:
      return start_any<2>(args, config, p, shape, table_bytes);
  }
}

}  // namespace rope_bench::device
