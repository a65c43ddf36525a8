#include "kernels/cuda/rope_fast.cuh"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/launchers.h"
#include "kernels/why_not.h"

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
  const bool copies = !(in_place(args.q) && in_place(args.k));
  p.pass_packets = copies ? (args.head_dim - args.rotary_dim) / elements : 0;
  p.half_dim = args.rotary_dim / 2;
  return p;
}

template <typename T, Pairing kPairing, int kBytes>
int32_t start(const FastParams& p, const LaunchShape& shape, bool stream, void* on) {
  if constexpr (kBytes < T::kSize) {
    return kInvalidArguments;
  } else {
    if (stream) return launch(rope_fast_kernel<T, kPairing, kBytes, Hint::kStream>, shape, on, p);
    return launch(rope_fast_kernel<T, kPairing, kBytes, Hint::kKeep>, shape, on, p);
  }
}

LaunchShape shape_of(const RopeKernelArgs& args, int threads, FastParams* p) {
  const int wanted = p->lanes + (p->pass_packets + 1) / 2;
  LaunchShape shape;
  shape.block_x = static_cast<uint32_t>(wanted);
  shape.block_y = static_cast<uint32_t>(wanted < threads ? threads / wanted : 1);
  const auto blocks = [&](int32_t heads) {
    return (static_cast<uint64_t>(args.num_tokens) * static_cast<uint64_t>(heads) + shape.block_y -
            1) /
           shape.block_y;
  };
  const uint64_t q_blocks = blocks(args.q.num_heads);
  shape.blocks = q_blocks + blocks(args.k.num_heads);
  p->q_blocks = static_cast<uint32_t>(q_blocks);
  return shape;
}

}  // namespace

int32_t launch_fast_with(const RopeKernelArgs& args, const VectorConfig& config) {
  if (args.num_tokens == 0) return 0;
  FastParams p = params_of(args, config.packet_bytes);
  const LaunchShape shape = shape_of(args, config.threads, &p);
  return dispatch(args, [&](auto element, auto pairing) -> int32_t {
    using T = decltype(element);
    constexpr Pairing kPairing = decltype(pairing)::kPairing;
    switch (config.packet_bytes) {
      case 16:
        return start<T, kPairing, 16>(p, shape, config.stream, args.stream);
      case 8:
        return start<T, kPairing, 8>(p, shape, config.stream, args.stream);
      case 4:
        return start<T, kPairing, 4>(p, shape, config.stream, args.stream);
      case 2:
        return start<T, kPairing, 2>(p, shape, config.stream, args.stream);
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
    return refuse(reason, reason_size, "operands are not aligned to whole elements or pairs");
  FastParams p = params_of(*args, config.packet_bytes);
  const LaunchShape shape = shape_of(*args, config.threads, &p);
  if (shape.block_x > 1024) {
    return refuse(reason, reason_size, "a head needs %u threads of %d bytes, a block has 1024",
                  shape.block_x, config.packet_bytes);
  }
  if (shape.blocks > 0x7fffffffu) {
    return refuse(reason, reason_size, "%llu blocks, a grid has 2^31 - 1",
                  static_cast<unsigned long long>(shape.blocks));
  }
  return 0;
}

}  // namespace rope_bench::device
