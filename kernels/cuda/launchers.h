// Rows of the CUDA registry: what each variant refuses and how it is launched. RopeVariant's
// function types.
#ifndef ROPE_BENCH_KERNELS_CUDA_LAUNCHERS_H_
#define ROPE_BENCH_KERNELS_CUDA_LAUNCHERS_H_

#include "kernels/cuda/config.h"
#include "kernels/kernel_api.h"

namespace rope_bench::device {

int32_t why_not_fast(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_fast(const RopeKernelArgs* args);
// The same with a given config, for tuning and tests. The packet must fit (packet_fits).
int32_t launch_fast_with(const RopeKernelArgs& args, const VectorConfig& config);

int32_t why_not_simple(const RopeKernelArgs* args, char* reason, size_t reason_size);
int32_t launch_naive(const RopeKernelArgs* args);
int32_t launch_per_head(const RopeKernelArgs* args);

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
