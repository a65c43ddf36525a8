// From arguments to the parameters and the grid of the vector kernels, and what they refuse.
#ifndef ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_H_
#define ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_H_

#include "kernels/cuda/launchers.h"

namespace rope_bench::device {

// Whether the plain kernels compute this launch: tokens one after the other, heads that share out
// evenly among equally many threads and begin with the dims that rotate
// (or rotate in place), no bias, a norm before the rotation, offsets within 32 bits.
bool is_plain(const RopeKernelArgs& args, const VectorLaunch& how);

// Refuses what the grid or a block cannot hold.
int32_t why_not_vector(const RopeKernelArgs& args, const VectorLaunch& how, char* reason,
                       size_t reason_size);
// Refuses what shared memory has no room for.
int32_t why_not_angles(const RopeKernelArgs& args, char* reason, size_t reason_size);
// Refuses more than the index arithmetic of rope_row_norm_kernel holds.
int32_t why_not_row_norm(const RopeKernelArgs& args, const VectorLaunch& how, char* reason,
                         size_t reason_size);

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_VECTOR_LAUNCH_H_
