#include "kernels/cuda/vector_launch.cuh"

namespace rope_bench::device {
namespace {

Items items_for(const RopeKernelArgs& args, const RopeTensor& tensor, const Stages& stages,
                int elements, bool is_v) {
  const int size = element_size(args.dtype);
  const bool rotates = stages.rotation && !is_v;
  const int64_t first = rotates ? tensor.rotary_offset : 0;
  const int64_t width = is_v ? args.head_dim : head_width(args, tensor);
  Items items;
  items.operand = Operand::of(tensor, size, first);
  items.slices = HeadSlices::of(first, rotates ? args.rotary_dim : 0, width, elements,
                                is_v || moves_pass_through(args, stages));
  return items;
}

}  // namespace

VectorParams vector_params(const RopeKernelArgs& args, const VectorLaunch& how) {
  const int elements = how.config.packet_bytes / element_size(args.dtype);
  const Stages& stages = how.stages;
  VectorParams p;
  p.q = items_for(args, args.q, stages, elements, false);
  p.k = items_for(args, args.k, stages, elements, false);
  p.v = items_for(args, args.v, stages, elements, true);
  // In place there is nothing to do for v, but to add a bias.
  const bool adds_bias = stages.bias && args.bias != nullptr;
  if (in_place(args.v) && !adds_bias) p.v.operand.heads = Divisor::of(0);
  p.tokens = TokenMap::of(args);
  p.tokens.in_is_out = how.in_is_out;
  p.tokens.plain = p.tokens.plain && !how.in_is_out;
  p.table = Table::of(args);
  p.angles = Angles::of(args, how.fast_math);
  p.half_dim = Divisor::of(static_cast<uint32_t>(args.rotary_dim / 2));
  p.row_bytes = static_cast<uint32_t>(args.rotary_dim * element_size(args.table_dtype));
  p.sine_flip = sine_flip_of(args);
  p.swaps_halves = is_backward(args) && args.table != nullptr;
  p.walk.num_tokens = args.num_tokens;
  return p;
}

int head_threads(const VectorParams& p) {
  int threads = p.q.slices.threads();
  if (p.k.slices.threads() > threads) threads = p.k.slices.threads();
  if (p.v.operand.heads.divisor > 0 && p.v.slices.threads() > threads)
    threads = p.v.slices.threads();
  return threads;
}

LaunchShape vector_shape(const RopeKernelArgs& args, const VectorConfig& config, int row_threads,
                         VectorParams* p) {
  LaunchShape shape;
  shape.block_x = static_cast<uint32_t>(row_threads);
  shape.block_y =
      static_cast<uint32_t>(row_threads < config.threads ? config.threads / row_threads : 1);
  shape.overlap = true;
  p->walk.chunk_tokens = static_cast<uint32_t>(config.chunk_tokens);
  shape.blocks_y =
      static_cast<uint32_t>((args.num_tokens + config.chunk_tokens - 1) / config.chunk_tokens);
  const auto blocks = [](uint64_t items, uint64_t per_block) {
    return static_cast<uint32_t>((items + per_block - 1) / per_block);
  };
  const auto tokens = static_cast<uint64_t>(config.chunk_tokens);
  const auto head_blocks = [&](const Items& items) {
    return blocks(tokens * items.operand.heads.divisor, shape.block_y);
  };
  p->walk.q_blocks = head_blocks(p->q);
  p->walk.k_blocks = head_blocks(p->k);
  // One more where rows do not begin at a line.
  p->row_lines = Divisor::of((p->row_bytes + 127) / 128 + (p->row_bytes % 128 != 0 ? 1 : 0));
  p->walk.prefetch_blocks =
      config.prefetch && args.table != nullptr
          ? blocks(tokens * p->row_lines.divisor, uint64_t{shape.block_x} * shape.block_y)
          : 0;
  shape.blocks =
      uint64_t{p->walk.prefetch_blocks} + p->walk.q_blocks + p->walk.k_blocks + head_blocks(p->v);
  return shape;
}

int32_t why_not_vector(const RopeKernelArgs& args, const VectorLaunch& how, char* reason,
                       size_t reason_size) {
  const VectorConfig& config = how.config;
  if (config.packet_bytes == 0)
    return refuse(reason, reason_size, "operands are not aligned to whole elements");
  if (config.chunk_tokens < 1) {
    return refuse(reason, reason_size, "%d query, %d key and %d value heads: at most %d",
                  args.q.num_heads, args.k.num_heads, args.v.num_heads, kMostHeads);
  }
  const int threads = head_threads(vector_params(args, how));
  if (threads > 1024) {
    return refuse(reason, reason_size, "a head needs %d threads of %d bytes, a block has 1024",
                  threads, config.packet_bytes);
  }
  const auto chunks = (args.num_tokens + config.chunk_tokens - 1) / config.chunk_tokens;
  if (chunks > 65535) {
    return refuse(reason, reason_size, "%lld tokens are more than 65535 chunks of %lld",
                  static_cast<long long>(args.num_tokens),
                  static_cast<long long>(config.chunk_tokens));
  }
  return 0;
}

int32_t why_not_angles(const RopeKernelArgs& args, char* reason, size_t reason_size) {
  if (args.rotary_dim > kSharedFactors) {
    return refuse(reason, reason_size, "rotary_dim %d: at most %d without a table", args.rotary_dim,
                  kSharedFactors);
  }
  return 0;
}

int32_t why_not_row_norm(const RopeKernelArgs& args, const VectorLaunch& how, char* reason,
                         size_t reason_size) {
  const int64_t threads = head_threads(vector_params(args, how));
  int64_t heads = args.q.num_heads > args.k.num_heads ? args.q.num_heads : args.k.num_heads;
  if (args.v.num_heads > heads) heads = args.v.num_heads;
  if ((heads * threads + 1024) * threads > 0xffffffff) {
    return refuse(reason, reason_size, "a norm over %lld heads of %lld threads: too wide",
                  static_cast<long long>(heads), static_cast<long long>(threads));
  }
  if (args.num_tokens > 0x7fffffff / 9) {
    return refuse(reason, reason_size, "%lld tokens: a norm over all heads has at most %d",
                  static_cast<long long>(args.num_tokens), 0x7fffffff / 9);
  }
  return 0;
}

}  // namespace rope_bench::device
