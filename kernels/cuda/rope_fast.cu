#include "kernels/cuda/rope_fast.cuh"

#include "kernels/arguments.h"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/launchers.h"

namespace rope_bench::device {
namespace {

constexpr int kInvalidArguments = 1;  // cudaErrorInvalidValue

// Threads of one item and packets they share.
FastParams params_of(const RopeKernelArgs& args, int packet_bytes) {
  const int size = element_size(args.dtype);
  const int elements = packet_bytes / size;
  FastParams p;
  p.q = Operand::of(args.q, size);
  p.k = Operand::of(args.k, size);
  p.table = TableRef::of(args);
  p.num_tokens = args.num_tokens;
  p.packets = args.rotary_dim / elements;
  p.lanes = (p.packets + 1) / 2;
  const bool copies = !all_in_place(args);
  p.pass_packets = copies ? (args.head_dim - args.rotary_dim) / elements : 0;
  p.pass_lanes = (p.pass_packets + 1) / 2;
  p.half_dim = args.rotary_dim / 2;
  return p;
}

template <typename T, int kTable, Pairing kPairing, int kBytes>
int32_t start(const FastParams& p, FastMode mode, const LaunchShape& shape, void* stream) {
  if constexpr (kBytes < T::kSize) {
    return kInvalidArguments;
  } else {
    switch (mode) {
      case FastMode::kInPlace:
        return launch(rope_fast_kernel<T, kTable, kPairing, kBytes, FastMode::kInPlace>, shape,
                      stream, p);
      case FastMode::kOutOfPlace:
        return launch(rope_fast_kernel<T, kTable, kPairing, kBytes, FastMode::kOutOfPlace>, shape,
                      stream, p);
      case FastMode::kOdd:
        return launch(rope_fast_kernel<T, kTable, kPairing, kBytes, FastMode::kOdd>, shape, stream,
                      p);
    }
    return kInvalidArguments;
  }
}

FastMode mode_of(const RopeKernelArgs& args, const FastParams& p) {
  if (p.packets % 2 != 0 || p.pass_packets % 2 != 0) return FastMode::kOdd;
  return all_in_place(args) ? FastMode::kInPlace : FastMode::kOutOfPlace;
}

// The blocks of one chunk and the number of chunks; fills in what the kernel must know of them.
LaunchShape shape_of(const RopeKernelArgs& args, const VectorConfig& config, FastParams* p) {
  LaunchShape shape;
  const int threads = p->lanes + p->pass_lanes;
  shape.block_x = static_cast<uint32_t>(threads);
  shape.block_y = static_cast<uint32_t>(threads < config.threads ? config.threads / threads : 1);
  shape.overlap = true;
  p->chunk_tokens = static_cast<uint32_t>(config.chunk_tokens);
  shape.blocks_y = static_cast<uint32_t>((args.num_tokens + p->chunk_tokens - 1) / p->chunk_tokens);
  const auto blocks = [](uint64_t items, uint64_t per_block) {
    return static_cast<uint32_t>((items + per_block - 1) / per_block);
  };
  const uint64_t tokens = p->chunk_tokens;
  p->q_blocks = blocks(tokens * static_cast<uint64_t>(args.q.num_heads), shape.block_y);
  p->row_bytes = static_cast<uint32_t>(args.rotary_dim * element_size(args.table_dtype));
  // One more where rows do not begin at a line.
  p->row_lines = Divisor::of((p->row_bytes + 127) / 128 + (p->row_bytes % 128 != 0 ? 1 : 0));
  p->prefetch_blocks = config.prefetch ? blocks(tokens * p->row_lines.divisor,
                                                uint64_t{shape.block_x} * shape.block_y)
                                       : 0;
  shape.blocks = uint64_t{p->prefetch_blocks} + p->q_blocks +
                 blocks(tokens * static_cast<uint64_t>(args.k.num_heads), shape.block_y);
  return shape;
}

}  // namespace

int32_t launch_fast_with(const RopeKernelArgs& args, const VectorConfig& config) {
  if (args.num_tokens == 0) return 0;
  FastParams p = params_of(args, config.packet_bytes);
  const LaunchShape shape = shape_of(args, config, &p);
  const FastMode mode = mode_of(args, p);
  return dispatch(args, [&](auto element, auto table, auto pairing) -> int32_t {
    using T = decltype(element);
    constexpr int kTable = decltype(table)::kSize;
    constexpr Pairing kPairing = decltype(pairing)::kPairing;
    switch (config.packet_bytes) {
      case 16:
        return start<T, kTable, kPairing, 16>(p, mode, shape, args.stream);
      case 8:
        return start<T, kTable, kPairing, 8>(p, mode, shape, args.stream);
      case 4:
        return start<T, kTable, kPairing, 4>(p, mode, shape, args.stream);
      case 2:
        return start<T, kTable, kPairing, 2>(p, mode, shape, args.stream);
      default:
        return kInvalidArguments;
    }
  });
}

int32_t launch_fast(const RopeKernelArgs* args) {
  return launch_fast_with(*args, fast_config(*args));
}

int32_t why_not_fast(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_rope(args, reason, reason_size)) return 1;
  const VectorConfig config = fast_config(*args);
  if (config.packet_bytes == 0)
    return refuse(reason, reason_size, "operands are not aligned to whole elements");
  const int64_t chunk = config.chunk_tokens;
  if (chunk < 1) {
    return refuse(reason, reason_size, "%d query and %d key heads: at most %d", args->q.num_heads,
                  args->k.num_heads, kMostHeads);
  }
  FastParams p = params_of(*args, config.packet_bytes);
  const int threads = p.lanes + (p.pass_packets + 1) / 2;
  if (threads > 1024) {
    return refuse(reason, reason_size, "a head needs %d threads of %d bytes, a block has 1024",
                  threads, config.packet_bytes);
  }
  if ((args->num_tokens + chunk - 1) / chunk > 65535) {
    return refuse(reason, reason_size, "%lld tokens are more than 65535 chunks of %lld",
                  static_cast<long long>(args->num_tokens), static_cast<long long>(chunk));
  }
  return 0;
}

}  // namespace rope_bench::device
