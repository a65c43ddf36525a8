#include "kernels/cuda/plain_launch.cuh"

namespace rope_bench::device {

int32_t launch_plain_table32(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_plain<Source::kTable32>(args, how);
}

}  // namespace rope_bench::device
