// From the run-time fields of the arguments to template parameters.
#ifndef ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_

#include "kernels/cuda/device/element.cuh"
#include "kernels/pairing.h"

namespace rope_bench::device {

template <Pairing kValue>
struct PairingTag {
  static constexpr Pairing kPairing = kValue;
};

template <int kValue>
struct TableTag {
  static constexpr int kSize = kValue;
};

// fn(element type{}, TableTag<>{}, PairingTag<>{}) for the dtype, the size of a table's element and
// the pairing of the arguments.
template <typename Fn>
int32_t dispatch(const RopeKernelArgs& args, Fn&& fn) {
  const auto with_table = [&](auto element, auto pairing) {
    if (args.table_dtype == ROPE_DTYPE_F32) return fn(element, TableTag<4>{}, pairing);
    return fn(element, TableTag<2>{}, pairing);
  };
  const auto with_pairing = [&](auto element) {
    if (args.pairing == ROPE_PAIRING_NEOX) return with_table(element, PairingTag<Pairing::kNeox>{});
    return with_table(element, PairingTag<Pairing::kGptj>{});
  };
  if (args.dtype == ROPE_DTYPE_F32) return with_pairing(F32{});
  if (args.dtype == ROPE_DTYPE_F16) return with_pairing(F16{});
  return with_pairing(BF16{});
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DISPATCH_CUH_
