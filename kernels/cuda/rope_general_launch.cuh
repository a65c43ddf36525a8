// Starts rope_general_kernel for one source of factors. Included once per source, so that they
// compile side by side.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_LAUNCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_LAUNCH_CUH_

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/rope_general.cuh"
#include "kernels/cuda/vector_launch.cuh"

namespace rope_bench::device {

template <Source kSource>
int32_t start_rope_general(const RopeKernelArgs& args, const VectorLaunch& how) {
  VectorParams p = vector_params(args, how);
  const int threads = head_threads(p);
  const int row_threads = how.warp_per_head ? (threads + 31) / 32 * 32 : threads;
  const LaunchShape shape = vector_shape(args, how.config, row_threads, &p);
  return dispatch(args, [&](auto element, auto pairing) {
    using T = decltype(element);
    return dispatch_packet<T>(how.config.packet_bytes, [&](auto bytes) {
      return launch(
          rope_general_kernel<T, kSource, decltype(pairing)::kValue, decltype(bytes)::kValue>,
          shape, args.stream, p);
    });
  });
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_GENERAL_LAUNCH_CUH_
