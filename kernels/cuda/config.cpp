#include "kernels/cuda/config.h"

#include "kernels/arguments.h"

namespace rope_bench::device {
namespace {

bool divides(int64_t a, int64_t b) { return b % a == 0; }

bool aligned(const void* p, int bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

bool tensor_fits(const RopeTensor& t, const RopeKernelArgs& args, int size, int bytes) {
  if (t.num_heads == 0) return true;
  // The stride of an axis of size one is never used.
  const auto stride_fits = [&](int64_t stride, int64_t count) {
    return count <= 1 || divides(bytes, stride * size);
  };
  const bool in_batches = args.in_batch_tokens != 0;
  const bool out_batches = args.out_batch_tokens != 0 || args.padded_output != 0;
  return aligned(t.in, bytes) && aligned(t.out, bytes) &&
         stride_fits(t.in_token_stride, args.num_tokens) &&
         stride_fits(t.out_token_stride, args.num_tokens) &&
         stride_fits(t.in_head_stride, t.num_heads) &&
         stride_fits(t.out_head_stride, t.num_heads) &&
         stride_fits(t.in_batch_stride, in_batches ? 2 : 1) &&
         stride_fits(t.out_batch_stride, out_batches ? 2 : 1);
}

bool table_fits(const RopeKernelArgs& args, int elements) {
  // Factors are read up to four at a time: cosines at multiples of that, sines half a row later.
  const bool gptj = args.pairing == ROPE_PAIRING_GPTJ;
  const int factors = elements == 1 ? 1 : gptj ? elements / 2 : (elements < 4 ? elements : 4);
  if (!divides(factors, args.rotary_dim / 2)) return false;
  return args.table == nullptr || (aligned(args.table, element_size(args.table_dtype) * factors) &&
                                   divides(factors, args.table_row_stride));
}

}  // namespace

int element_size(int32_t dtype) { return dtype == ROPE_DTYPE_F32 ? 4 : 2; }

bool moves_pass_through(const RopeKernelArgs& args, const Stages& stages) {
  return !all_in_place(args) || (stages.norm && args.norm != ROPE_NORM_NONE) ||
         (stages.bias && args.bias != nullptr);
}

bool packet_fits(const RopeKernelArgs& args, const Stages& stages, int packet_bytes) {
  const int size = element_size(args.dtype);
  if (packet_bytes < size) return false;
  const int elements = packet_bytes / size;
  for (const RopeTensor* t : {&args.q, &args.k, &args.v}) {
    if (!tensor_fits(*t, args, size, packet_bytes)) return false;
  }
  if (stages.rotation) {
    // neox: a packet lies in one half. gptj: a packet holds whole pairs, or one element of one.
    const bool gptj = args.pairing == ROPE_PAIRING_GPTJ;
    if (!divides(elements, gptj ? args.rotary_dim : args.rotary_dim / 2)) return false;
    if (!table_fits(args, elements)) return false;
  }
  for (const RopeTensor* t : {&args.q, &args.k}) {
    const int64_t width = head_width(args, *t);
    if (stages.rotation && !divides(elements, t->rotary_offset)) return false;
    const int64_t passed = stages.rotation ? width - args.rotary_dim : width;
    if (moves_pass_through(args, stages) && !divides(elements, passed)) return false;
  }
  if (args.v.num_heads > 0 && !divides(elements, args.head_dim)) return false;
  const bool reads_bias = stages.bias && args.bias != nullptr;
  const bool reads_weights = stages.norm && args.norm != ROPE_NORM_NONE;
  if ((reads_bias || reads_weights) && !divides(elements, args.head_dim)) return false;
  if (reads_bias && !aligned(args.bias, packet_bytes)) return false;
  return !reads_weights ||
         (aligned(args.q_weight, packet_bytes) && aligned(args.k_weight, packet_bytes));
}

int widest_packet(const RopeKernelArgs& args, const Stages& stages, int most) {
  for (int bytes = most; bytes >= 2; bytes /= 2) {
    if (packet_fits(args, stages, bytes)) return bytes;
  }
  return 0;
}

namespace {

// Between these numbers of threads (two 16-byte packets each) two overlapping launches do not quite
// fit a GPU at once, and twice as many threads of half the width spread better: on an H200 0.93 of
// the limit instead of 0.85 at 256 tokens of 32/8 heads x 128, 0.94 instead of 0.82 at 384; at 128
// and 512 the wide ones win.
constexpr int64_t kNarrowFrom = 60'000, kNarrowTo = 140'000;

bool prefers_narrow(const RopeKernelArgs& args, const Stages& stages) {
  const int64_t row_bytes =
      int64_t{element_size(args.dtype)} * (all_in_place(args) ? args.rotary_dim : args.head_dim);
  const int64_t threads = args.num_tokens * (args.q.num_heads + args.k.num_heads) * row_bytes / 32;
  return all_in_place(args) && threads > kNarrowFrom && threads < kNarrowTo &&
         packet_fits(args, stages, 8);
}

int64_t chunk_of(const RopeKernelArgs& args) {
  // The table rows of a chunk stay in L2 from its Q to its K.
  constexpr int64_t kChunkTokens = 8192;
  int64_t heads = args.q.num_heads > args.k.num_heads ? args.q.num_heads : args.k.num_heads;
  if (args.v.num_heads > heads) heads = args.v.num_heads;
  if (heads > kMostHeads) return 0;
  if (heads == 0) return 1;
  // The index arithmetic needs (tokens x heads) x heads below 2^32; the last block reaches up to
  // 1024 items beyond the chunk.
  const int64_t most = ((int64_t{1} << 32) - 1024 * heads) / (heads * heads);
  int64_t chunk = args.num_tokens < kChunkTokens ? args.num_tokens : kChunkTokens;
  if (chunk > most) chunk = most;
  return chunk < 1 ? 1 : chunk;
}

}  // namespace

VectorConfig fast_config(const RopeKernelArgs& args) {
  const Stages rotation_only = {false, false, true};
  VectorConfig config;
  config.packet_bytes = widest_packet(args, rotation_only);
  if (config.packet_bytes == 16 && prefers_narrow(args, rotation_only)) {
    config.packet_bytes = 8;
    config.threads = 256;
  }
  config.chunk_tokens = chunk_of(args);
  return config;
}

VectorConfig fused_config(const RopeKernelArgs& args, const Stages& stages) {
  VectorConfig config;
  config.packet_bytes = widest_packet(args, stages);
  config.chunk_tokens = chunk_of(args);
  return config;
}

VectorConfig per_head_config(const RopeKernelArgs& args, const Stages& stages) {
  constexpr int kWarp = 32;
  VectorConfig config;
  const int size = element_size(args.dtype);
  int bytes = 16;
  // Two packets a thread.
  while (bytes > size && args.head_dim * size < 2 * kWarp * bytes) bytes /= 2;
  config.packet_bytes = widest_packet(args, stages, bytes);
  config.prefetch = false;
  config.chunk_tokens = chunk_of(args);
  return config;
}

}  // namespace rope_bench::device
