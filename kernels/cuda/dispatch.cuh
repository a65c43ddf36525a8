// From the run-time fields of the arguments to template parameters.
#ifndef ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/factors.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

inline constexpr int kInvalidArguments = 1;  // cudaErrorInvalidValue

template <auto kTagged>
struct Tag {
  static constexpr auto kValue = kTagged;
};

// fn(element type{}, Tag<Pairing>{}) for the dtype and pairing of the arguments.
template <typename Fn>
int32_t dispatch(const RopeKernelArgs& args, Fn&& fn) {
  const auto with_pairing = [&](auto element) {
    if (args.pairing == ROPE_PAIRING_NEOX) return fn(element, Tag<Pairing::kNeox>{});
    return fn(element, Tag<Pairing::kGptj>{});
  };
  if (args.dtype == ROPE_DTYPE_F32) return with_pairing(F32{});
  if (args.dtype == ROPE_DTYPE_F16) return with_pairing(F16{});
  return with_pairing(BF16{});
}

// fn(Tag<Source>{}) for the table of the arguments.
template <typename Fn>
int32_t dispatch_table(const RopeKernelArgs& args, Fn&& fn) {
  if (args.table_dtype == ROPE_DTYPE_F32) return fn(Tag<Source::kTable32>{});
  return fn(Tag<Source::kTable16>{});
}

// fn(Tag<bytes>{}) for a packet that holds at least an element of T.
template <typename T, typename Fn>
int32_t dispatch_packet(int packet_bytes, Fn&& fn) {
  if (packet_bytes == 16) return fn(Tag<16>{});
  if (packet_bytes == 8) return fn(Tag<8>{});
  if (packet_bytes == 4) return fn(Tag<4>{});
  if constexpr (T::kSize == 2) {
    if (packet_bytes == 2) return fn(Tag<2>{});
  }
  return kInvalidArguments;
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_
