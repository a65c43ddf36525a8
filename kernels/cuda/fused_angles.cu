#include "kernels/cuda/fused_launch.cuh"

namespace rope_bench::device {

int32_t launch_fused_angles(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_any_fused<Source::kAngles>(args, how);
}

}  // namespace rope_bench::device
