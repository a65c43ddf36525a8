// Starts rope_fast_kernel for one source of factors. Included once per source, so that they compile
// side by side.
#ifndef ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_LAUNCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_LAUNCH_CUH_

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/rope_fast.cuh"
#include "kernels/cuda/vector_launch.cuh"

namespace rope_bench::device {

// Whether the heads of q, k and v share out evenly among the same threads, and begin with the dims
// that rotate.
inline bool is_plain(const RopeKernelArgs& args, const VectorParams& p) {
  if (!TokenMap::is_plain(args)) return false;
  if (args.q.rotary_offset != 0 || args.k.rotary_offset != 0) return false;
  for (const Items* items : {&p.q, &p.k, &p.v}) {
    if (!items->operand.is_short()) return false;
  }
  if (!p.table.is_short()) return false;
  if (!p.q.slices.is_even() || !p.k.slices.is_even()) return false;
  return args.v.num_heads == 0 || in_place(args.v) ||
         (p.v.slices.is_even() && p.v.slices.threads() == p.q.slices.threads());
}

template <Source kSource>
int32_t start_rope_fast(const RopeKernelArgs& args, const VectorLaunch& how) {
  if (args.num_tokens == 0) return 0;
  VectorParams p = vector_params(args, how);
  const int threads = head_threads(p);
  const int row_threads = how.warp_per_head ? (threads + 31) / 32 * 32 : threads;
  const LaunchShape shape = vector_shape(args, how.config, row_threads, &p);
  const bool plain = is_plain(args, p) && !how.in_is_out && row_threads == threads;
  const bool copies = !all_in_place(args);
  return dispatch(args, [&](auto element, auto pairing) {
    using T = decltype(element);
    constexpr Pairing kPairing = decltype(pairing)::kValue;
    return dispatch_packet<T>(how.config.packet_bytes, [&](auto bytes) {
      constexpr int kBytes = decltype(bytes)::kValue;
      if (!plain) {
        return launch(rope_fast_kernel<T, kSource, kPairing, kBytes, FastMode::kGeneral>, shape,
                      args.stream, p);
      }
      if (copies) {
        return launch(rope_fast_kernel<T, kSource, kPairing, kBytes, FastMode::kOutOfPlace>, shape,
                      args.stream, p);
      }
      return launch(rope_fast_kernel<T, kSource, kPairing, kBytes, FastMode::kInPlace>, shape,
                    args.stream, p);
    });
  });
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_ROPE_FAST_LAUNCH_CUH_
