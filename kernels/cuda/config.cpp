#include "kernels/cuda/config.h"

#include <span>

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

int64_t chunk_of(const RopeKernelArgs& args) {
  // The table rows of a chunk stay in L2 from its Q to its K.
  constexpr int64_t kChunkTokens = 8192;
  int64_t heads = args.q.num_heads > args.k.num_heads ? args.q.num_heads : args.k.num_heads;
  if (args.v.num_heads > heads) heads = args.v.num_heads;
  if (heads > kMostHeads) return 0;
  if (heads == 0) return 1;
  // The index arithmetic needs (tokens x heads) x heads below 2^32; the last block reaches up to
  // 1024 items beyond the chunk. (Blocks that look further ahead only see that it is beyond.)
  const int64_t most = ((int64_t{1} << 32) - 1024 * heads) / (heads * heads);
  int64_t chunk = args.num_tokens < kChunkTokens ? args.num_tokens : kChunkTokens;
  if (chunk > most) chunk = most;
  return chunk < 1 ? 1 : chunk;
}

}  // namespace

VectorConfig general_config(const RopeKernelArgs& args, const Stages& stages) {
  VectorConfig config;
  config.packet_bytes = widest_packet(args, stages);
  config.chunk_tokens = chunk_of(args);
  return config;
}

namespace {

// Threads of a launch with two packets of 16 bytes each: how much there is to do.
int64_t wide_threads(const RopeKernelArgs& args, const Stages& stages) {
  const bool passes = moves_pass_through(args, stages);
  const int64_t heads =
      int64_t{args.q.num_heads} + args.k.num_heads + (in_place(args.v) ? 0 : args.v.num_heads);
  return args.num_tokens * heads * (passes ? args.head_dim : args.rotary_dim) *
         element_size(args.dtype) / 32;
}

struct Choice {
  int64_t most;  // of wide_threads()
  int packet_bytes, threads, heads;
  int ahead = 0;
};
// Few threads: mostly narrow packets, so that twice as many wait for memory at once. In between,
// where launches do not quite fill a GPU or a little more than that, whatever spreads best. Many:
// wide packets; two heads a thread where there is more to compute than a plain copy leaves room
// for. Where blocks form angles, or learn behind their loads what position a packed token has,
// those to come find theirs in L2, about as many as are there at once: so memory works on. With a
// table and tokens in order it only costs, a norm over whole rows apart. Made with
// tests/gpu/tune_fast on an H200, 32/8 heads x 128, bf16.
constexpr int64_t kAny = INT64_MAX;
constexpr Choice kInPlace[] = {{140'000, 8, 256, 1}, {kAny, 16, 128, 1}};
constexpr Choice kOutOfPlace[] = {{kAny, 16, 128, 1}};
constexpr Choice kNorm[] = {{110'000, 8, 256, 1}, {250'000, 16, 128, 1}, {kAny, 16, 64, 2}};
constexpr Choice kRowNorm[] = {{600'000, 16, 128, 2}, {kAny, 16, 128, 2, 2}};
constexpr Choice kAngles[] = {
    {110'000, 8, 256, 1}, {600'000, 16, 128, 1, 6}, {kAny, 16, 128, 1, 8}};
constexpr Choice kNormAngles[] = {
    {110'000, 8, 256, 1}, {1'000'000, 16, 128, 1, 7}, {kAny, 16, 64, 2, 8}};
constexpr Choice kNormAnglesInPlace[] = {
    {110'000, 8, 256, 1}, {600'000, 16, 128, 1, 5}, {kAny, 16, 64, 2, 8}};
// Packed tokens, with a position of their own and looked up.
constexpr Choice kOwn[] = {{110'000, 8, 256, 1}, {250'000, 16, 128, 1}, {kAny, 16, 128, 1, 5}};
constexpr Choice kSequences[] = {{250'000, 16, 128, 1}, {kAny, 16, 128, 1, 5}};
// Where sequences are of one token, as in decoding, a warp finds the sequence of its own token, and
// had better form the factors of that: with 8 kv heads x 128, packets of 16 bytes see to it. (Other
// shapes look for the sequences of other tokens one by one.)
constexpr Choice kDecodedAngles[] = {{kAny, 16, 128, 1, 8}};
constexpr Choice kPackedAngles[] = {{110'000, 8, 256, 1}, {kAny, 16, 128, 1, 8}};

std::span<const Choice> choices_for(const RopeKernelArgs& args, const Stages& stages) {
  using Choices = std::span<const Choice>;
  const bool angles = stages.rotation && args.table == nullptr;
  if (stages.norm && args.norm == ROPE_NORM_ROW) return kRowNorm;
  if (stages.norm && args.norm != ROPE_NORM_NONE) {
    if (!angles) return kNorm;
    return all_in_place(args) ? Choices(kNormAnglesInPlace) : kNormAngles;
  }
  if (is_packed(args)) {
    const bool sequences = args.position_source == ROPE_POSITIONS_CU_SEQLENS;
    if (!angles) return sequences ? Choices(kSequences) : kOwn;
    // On average, empty ones counted.
    const bool decodes = sequences && args.num_tokens < 2 * args.num_sequences;
    return decodes ? Choices(kDecodedAngles) : kPackedAngles;
  }
  if (angles) return kAngles;
  return all_in_place(args) ? Choices(kInPlace) : kOutOfPlace;
}

}  // namespace

VectorConfig plain_config(const RopeKernelArgs& args, const Stages& stages) {
  VectorConfig config = general_config(args, stages);
  if (config.packet_bytes != 16) return config;
  const int64_t threads = wide_threads(args, stages);
  for (const Choice& choice : choices_for(args, stages)) {
    if (threads > choice.most) continue;
    if (!packet_fits(args, stages, choice.packet_bytes)) return config;
    config.packet_bytes = choice.packet_bytes;
    config.threads = choice.threads;
    config.heads = choice.heads;
    config.ahead = choice.ahead;
    return config;
  }
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
