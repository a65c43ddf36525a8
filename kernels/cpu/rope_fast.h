// Variant `fast` of op `rope`, and its limit kernels: the part that chooses instruction set, stores
// and threads. The kernels themselves are in isa_impl.h.
#ifndef ROPE_BENCH_KERNELS_CPU_ROPE_FAST_H_
#define ROPE_BENCH_KERNELS_CPU_ROPE_FAST_H_

#include "kernels/kernel_api.h"

namespace rope_bench {

int32_t launch_rope_fast(const RopeKernelArgs* args);

int32_t launch_copy(const RopeKernelArgs* args);           // cached stores
int32_t launch_copy_streamed(const RopeKernelArgs* args);  // non-temporal stores
int32_t launch_copy_one_thread(const RopeKernelArgs* args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ROPE_FAST_H_
