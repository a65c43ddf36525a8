// Element types of q and k: names, sizes and the numbers that error bounds are made of.
#ifndef ROPE_BENCH_KERNELS_DTYPE_H_
#define ROPE_BENCH_KERNELS_DTYPE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_api.h"

namespace rope_bench {

enum class Dtype : int32_t {
  kF32 = ROPE_DTYPE_F32,
  kF16 = ROPE_DTYPE_F16,
  kBF16 = ROPE_DTYPE_BF16
};

struct DtypeInfo {
  Dtype dtype;
  const char* name;   // as in configs and results
  size_t size;        // bytes
  int mantissa_bits;  // explicit ones: ulp(x) = 2^(floor(log2 |x|) - mantissa_bits)
  int min_exponent;   // of the smallest normal number
  int max_exponent;   // of the largest finite number
};

inline constexpr DtypeInfo kDtypes[] = {
    {Dtype::kF32, "f32", 4, 23, -126, 127},
    {Dtype::kF16, "f16", 2, 10, -14, 15},
    {Dtype::kBF16, "bf16", 2, 7, -126, 127},
};

constexpr const DtypeInfo& info(Dtype dtype) { return kDtypes[static_cast<int>(dtype)]; }

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_DTYPE_H_
