#include "kernels/cpu/simd_avx512.h"
// The interface Simd first.
#include "kernels/cpu/isa_impl.h"

namespace rope_bench {

constinit const IsaKernels kAvx512Bf16Kernels = make_isa_kernels();

}  // namespace rope_bench
