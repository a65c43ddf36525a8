#include "kernels/cuda/config.h"

#include "kernels/arguments.h"

namespace rope_bench::device {
namespace {

bool divides(int64_t a, int64_t b) { return b % a == 0; }

bool aligned(const void* p, int bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

bool tensor_fits(const RopeTensor& t, int64_t num_tokens, int size, int bytes) {
  // The stride of an axis of size one is never used.
  const auto stride_fits = [&](int64_t stride, int64_t count) {
    return count <= 1 || divides(bytes, stride * size);
  };
  return aligned(t.in, bytes) && aligned(t.out, bytes) &&
         stride_fits(t.in_token_stride, num_tokens) &&
         stride_fits(t.out_token_stride, num_tokens) &&
         stride_fits(t.in_head_stride, t.num_heads) && stride_fits(t.out_head_stride, t.num_heads);
}

}  // namespace

int element_size(int32_t dtype) { return dtype == ROPE_DTYPE_F32 ? 4 : 2; }

bool packet_fits(const RopeKernelArgs& args, int packet_bytes) {
  const int size = element_size(args.dtype);
  if (packet_bytes < size) return false;
  const int elements = packet_bytes / size;
  const bool gptj = args.pairing == ROPE_PAIRING_GPTJ;
  // neox: a packet lies in one half. gptj: a packet holds whole pairs, or one element of one.
  if (!divides(elements, gptj ? args.rotary_dim : args.rotary_dim / 2)) return false;
  const bool copies = !all_in_place(args);
  if (copies && !divides(elements, args.head_dim - args.rotary_dim)) return false;
  if (!tensor_fits(args.q, args.num_tokens, size, packet_bytes) ||
      !tensor_fits(args.k, args.num_tokens, size, packet_bytes)) {
    return false;
  }
  // Factors are read up to four at a time: cosines at multiples of that, sines half a row later.
  const int factors = elements == 1 ? 1 : gptj ? elements / 2 : (elements < 4 ? elements : 4);
  return aligned(args.table, element_size(args.table_dtype) * factors) && divides(factors, args.rotary_dim / 2) &&
         divides(factors, args.table_row_stride);
}

int widest_packet(const RopeKernelArgs& args) {
  for (int bytes = 16; bytes >= 2; bytes /= 2) {
    if (packet_fits(args, bytes)) return bytes;
  }
  return 0;
}

namespace {

// Between these numbers of threads (two 16-byte packets each) two overlapping launches do not quite
// fit a GPU at once, and twice as many threads of half the width spread better: on an H200 0.93 of
// the limit instead of 0.85 at 256 tokens of 32/8 heads x 128, 0.94 instead of 0.82 at 384; at 128
// and 512 the wide ones win.
constexpr int64_t kNarrowFrom = 60'000, kNarrowTo = 140'000;

bool prefers_narrow(const RopeKernelArgs& args) {
  const int64_t row_bytes =
      int64_t{element_size(args.dtype)} * (all_in_place(args) ? args.rotary_dim : args.head_dim);
  const int64_t threads = args.num_tokens * (args.q.num_heads + args.k.num_heads) * row_bytes / 32;
  return all_in_place(args) && threads > kNarrowFrom && threads < kNarrowTo && packet_fits(args, 8);
}

}  // namespace

VectorConfig fast_config(const RopeKernelArgs& args) {
  // The table rows of a chunk stay in L2 from its Q to its K.
  constexpr int64_t kChunkTokens = 8192;
  VectorConfig config;
  config.packet_bytes = widest_packet(args);
  if (config.packet_bytes == 16 && prefers_narrow(args)) {
    config.packet_bytes = 8;
    config.threads = 256;
  }
  const int64_t heads = args.q.num_heads > args.k.num_heads ? args.q.num_heads : args.k.num_heads;
  if (heads > kMostHeads) return config;
  config.chunk_tokens = 1;
  if (heads == 0) return config;
  // The index arithmetic needs (tokens x heads) x heads below 2^32; the last block reaches up to
  // 1024 items beyond the chunk.
  const int64_t most = ((int64_t{1} << 32) - 1024 * heads) / (heads * heads);
  config.chunk_tokens = args.num_tokens < kChunkTokens ? args.num_tokens : kChunkTokens;
  if (config.chunk_tokens > most) config.chunk_tokens = most;
  if (config.chunk_tokens < 1) config.chunk_tokens = 1;
  return config;
}

}  // namespace rope_bench::device
