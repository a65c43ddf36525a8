// Starts rope_plain_kernel or rope_row_norm_plain_kernel for one source of factors. Included once
// per source, so that they compile side by side.
#ifndef ROPE_BENCH_KERNELS_CUDA_PLAIN_LAUNCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_PLAIN_LAUNCH_CUH_

#include "kernels/arguments.h"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/launchers.h"
#include "kernels/cuda/plain.cuh"
#include "kernels/cuda/row_norm_plain.cuh"

namespace rope_bench::device {

// Of rope_plain_kernel.
PlainParams plain_params(const RopeKernelArgs& args, const VectorLaunch& how);
// The grid; fills in what the kernel must know of it.
LaunchShape plain_shape(const RopeKernelArgs& args, const VectorLaunch& how, PlainParams* p);

// Of rope_row_norm_plain_kernel.
RowPlainParams row_plain_params(const RopeKernelArgs& args, const VectorLaunch& how);
LaunchShape row_plain_shape(const RopeKernelArgs& args, const RowPlainParams& p);

// fn(Tag<heads>{}) for as many heads a thread as the config says.
template <int kBytes, typename Fn>
int32_t dispatch_heads(const VectorConfig& config, Fn&& fn) {
  if constexpr (kBytes == 16) {
    if (config.heads == 2) return fn(Tag<2>{});
  }
  return fn(Tag<1>{});
}

// For a launch that is_plain() says yes to.
template <Source kSource>
int32_t start_plain(const RopeKernelArgs& args, const VectorLaunch& how) {
  const bool norm = how.stages.norm && args.norm != ROPE_NORM_NONE;
  const bool row = norm && args.norm == ROPE_NORM_ROW;
  const bool copies = !all_in_place(args);
  PlainParams p = plain_params(args, how);
  const RowPlainParams row_params = row_plain_params(args, how);
  const LaunchShape shape = row ? row_plain_shape(args, row_params) : plain_shape(args, how, &p);
  return dispatch(args, [&](auto element, auto pairing) {
    using T = decltype(element);
    constexpr Pairing kPairing = decltype(pairing)::kValue;
    return dispatch_packet<T>(how.config.packet_bytes, [&](auto bytes) {
      constexpr int kBytes = decltype(bytes)::kValue;
      return dispatch_heads<kBytes>(how.config, [&](auto heads) {
        constexpr int kHeads = decltype(heads)::kValue;
        if (row) {
          return launch(rope_row_norm_plain_kernel<T, kSource, kPairing, kBytes, kHeads>, shape,
                        args.stream, row_params);
        }
        const auto with = [&](auto mode, auto tokens) {
          return launch(rope_plain_kernel<T, kSource, kPairing, kBytes, kHeads,
                                          decltype(mode)::kValue, decltype(tokens)::kValue>,
                        shape, args.stream, p);
        };
        const auto with_tokens = [&](auto mode) {
          if (!is_packed(args)) return with(mode, Tag<Tokens::kInOrder>{});
          if (args.position_source == ROPE_POSITIONS_CU_SEQLENS)
            return with(mode, Tag<Tokens::kSequences>{});
          return with(mode, Tag<Tokens::kOwn>{});
        };
        if (norm) return with(Tag<PlainMode::kNorm>{}, Tag<Tokens::kInOrder>{});
        if (copies) return with_tokens(Tag<PlainMode::kOutOfPlace>{});
        return with_tokens(Tag<PlainMode::kInPlace>{});
      });
    });
  });
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_PLAIN_LAUNCH_CUH_
