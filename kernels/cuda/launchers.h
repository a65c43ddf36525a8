// What the CUDA registry is made of: what each variant refuses, how it is launched, and the
// launchers of one kernel family each.
#ifndef ROPE_BENCH_KERNELS_CUDA_LAUNCHERS_H_
#define ROPE_BENCH_KERNELS_CUDA_LAUNCHERS_H_

#include "kernels/cuda/config.h"
#include "kernels/kernel_api.h"

namespace rope_bench::device {

// RopeVariant's function types. They compute every op.
int32_t why_not_fast(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_fast(const RopeKernelArgs* args);
int32_t why_not_on_the_fly(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_on_the_fly(const RopeKernelArgs* args);
int32_t why_not_fast_math(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_fast_math(const RopeKernelArgs* args);
int32_t why_not_per_head(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_per_head(const RopeKernelArgs* args);
int32_t why_not_naive(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_naive(const RopeKernelArgs* args);
int32_t why_not_unfused(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_unfused(const RopeKernelArgs* args);

// One launch of a vector kernel.
struct VectorLaunch {
  VectorConfig config;
  Stages stages;
  bool warp_per_head = false;  // threads of a head make a warp, whether they have work or not
  bool fast_math = false;      // without a table
  bool in_is_out = false;      // the inputs are where a padded output is
};
// fast with a given config, for tuning and tests. The packet must fit (packet_fits).
int32_t launch_fast_with(const RopeKernelArgs& args, const VectorConfig& config);

// rope_plain_kernel or rope_row_norm_plain_kernel, rope_general_kernel, and rope_fused_kernel or
// rope_row_norm_kernel, for each source of factors.
int32_t launch_plain_table32(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_plain_table16(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_plain_angles(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_rope_table32(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_rope_table16(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_rope_angles(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_fused_table32(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_fused_table16(const RopeKernelArgs& args, const VectorLaunch& how);
int32_t launch_fused_angles(const RopeKernelArgs& args, const VectorLaunch& how);

int32_t why_not_stream(const RopeKernelArgs* args, char* reason, size_t reason_size);
// One member of the limit family.
struct StreamConfig {
  int max_packet_bytes;
  int threads;
  bool stream;
  int steps;     // packets a thread: 1 or 2
  bool overlap;  // with the end of the launch before
};
int32_t launch_stream(const RopeKernelArgs& args, const StreamConfig& config);

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_LAUNCHERS_H_
