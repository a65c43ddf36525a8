#include "kernels/cuda/fused_launch.cuh"

namespace rope_bench::device {

int32_t launch_fused_table16(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_any_fused<Source::kTable16>(args, how);
}

}  // namespace rope_bench::device
