#include "kernels/cpu/simd_avx2.h"
// The interface Simd first.
#include "kernels/cpu/isa_impl.h"

namespace rope_bench {

constinit const IsaKernels kAvx2Kernels = make_isa_kernels();

}  // namespace rope_bench
