// Starts rope_fused_kernel and rope_row_norm_kernel for one source of factors. Included once per
// source.
#ifndef ROPE_BENCH_KERNELS_CUDA_FUSED_LAUNCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_FUSED_LAUNCH_CUH_

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/fused.cuh"
#include "kernels/cuda/launchers.h"
#include "kernels/cuda/row_norm.cuh"
#include "kernels/cuda/vector_launch.cuh"

namespace rope_bench::device {

inline FusedParams fused_params(const RopeKernelArgs& args, const VectorLaunch& how) {
  FusedParams p;
  p.vector = vector_params(args, how);
  if (how.stages.norm) p.norm = norm_params(args);
  p.bias = how.stages.bias ? static_cast<const char*>(args.bias) : nullptr;
  p.head_bytes = args.head_dim * element_size(args.dtype);
  return p;
}

template <Source kSource>
int32_t start_fused(const RopeKernelArgs& args, const VectorLaunch& how) {
  FusedParams p = fused_params(args, how);
  const int threads = head_threads(p.vector);
  int group = how.warp_per_head ? 32 : 1;
  while (group < threads && group < 32) group *= 2;
  if (threads > 32) group = (threads + 31) / 32 * 32;
  p.group = group;
  VectorConfig config = how.config;
  if (group > 32) config.threads = group;  // they meet as a block
  const LaunchShape shape = vector_shape(args, config, group, &p.vector);
  return dispatch(args, [&](auto element, auto pairing) {
    using T = decltype(element);
    return dispatch_packet<T>(how.config.packet_bytes, [&](auto bytes) {
      return launch(
          rope_fused_kernel<T, kSource, decltype(pairing)::kValue, decltype(bytes)::kValue>, shape,
          args.stream, p);
    });
  });
}

template <Source kSource>
int32_t start_row_norm(const RopeKernelArgs& args, const VectorLaunch& how) {
  RowNormParams p;
  p.fused = fused_params(args, how);
  const uint32_t threads = static_cast<uint32_t>(head_threads(p.fused.vector));
  const auto rows = [&](const RopeTensor& t) {
    return static_cast<uint32_t>(t.num_heads) * threads;
  };
  const bool has_v = args.v.num_heads > 0 && (!in_place(args.v) || p.fused.bias != nullptr);
  p.rows_per_token = Divisor::of(has_v ? 3 : 2);
  p.head_threads = Divisor::of(threads);
  const uint32_t most = rows(args.q) > rows(args.k) ? rows(args.q) : rows(args.k);
  LaunchShape shape;
  shape.blocks = static_cast<uint64_t>(args.num_tokens) * p.rows_per_token.divisor;
  shape.block_x = most < 1024 ? (most + 31) / 32 * 32 : 1024;
  if (shape.block_x == 0) shape.block_x = 32;
  shape.overlap = true;
  return dispatch(args, [&](auto element, auto pairing) {
    using T = decltype(element);
    return dispatch_packet<T>(how.config.packet_bytes, [&](auto bytes) {
      return launch(
          rope_row_norm_kernel<T, kSource, decltype(pairing)::kValue, decltype(bytes)::kValue>,
          shape, args.stream, p);
    });
  });
}

template <Source kSource>
int32_t start_any_fused(const RopeKernelArgs& args, const VectorLaunch& how) {
  if (args.num_tokens == 0) return 0;
  const bool row = how.stages.norm && args.norm == ROPE_NORM_ROW;
  return row ? start_row_norm<kSource>(args, how) : start_fused<kSource>(args, how);
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_FUSED_LAUNCH_CUH_
