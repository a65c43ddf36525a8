#include "kernels/cpu/simd_baseline.h"
// The interface Simd first.
#include "kernels/cpu/isa_impl.h"

namespace rope_bench {

constinit const IsaKernels kBaselineKernels = make_isa_kernels();

}  // namespace rope_bench
