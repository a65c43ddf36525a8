#include "kernels/cuda/rope_general_launch.cuh"

namespace rope_bench::device {

int32_t launch_rope_angles(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_rope_general<Source::kAngles>(args, how);
}

}  // namespace rope_bench::device
