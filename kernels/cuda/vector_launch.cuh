// From arguments to the parameters and the grid of the vector kernels. Host code.
#ifndef ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_CUH_
#define ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_CUH_

#include "kernels/cuda/device/params.cuh"
#include "kernels/cuda/vector_launch.h"

namespace rope_bench::device {

VectorParams vector_params(const RopeKernelArgs& args, const VectorLaunch& how);

// Threads of one head; the largest of q, k and v.
int head_threads(const VectorParams& p);

// The grid for rows of `row_threads` threads; fills in what the kernel must know of it.
LaunchShape vector_shape(const RopeKernelArgs& args, const VectorConfig& config, int row_threads,
                         VectorParams* p);

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_CUH_
