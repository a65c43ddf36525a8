// Variant `naive` of every op: the definition, element by element.
#ifndef ROPE_BENCH_KERNELS_CPU_NAIVE_H_
#define ROPE_BENCH_KERNELS_CPU_NAIVE_H_

#include "kernels/kernel_api.h"

namespace rope_bench {

int32_t launch_naive(const RopeKernelArgs* args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_NAIVE_H_
