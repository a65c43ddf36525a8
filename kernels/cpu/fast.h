// Variants `fast`, `on_the_fly` and `unfused` of every op, and the limit kernels: the part that
// chooses instruction set, stores and threads. The kernels themselves are in isa_impl.h.
#ifndef ROPE_BENCH_KERNELS_CPU_FAST_H_
#define ROPE_BENCH_KERNELS_CPU_FAST_H_

#include "kernels/kernel_api.h"

namespace rope_bench {

int32_t launch_fast(const RopeKernelArgs* args);
int32_t launch_on_the_fly(const RopeKernelArgs* args);  // without a table
int32_t launch_unfused(const RopeKernelArgs* args);     // a pass over the outputs per step

int32_t launch_copy(const RopeKernelArgs* args);           // cached stores
int32_t launch_copy_streamed(const RopeKernelArgs* args);  // non-temporal stores
int32_t launch_copy_one_thread(const RopeKernelArgs* args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_FAST_H_
