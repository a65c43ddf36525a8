#include "kernels/cuda/plain_launch.cuh"

namespace rope_bench::device {

int32_t launch_plain_angles(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_plain<Source::kAngles>(args, how);
}

}  // namespace rope_bench::device
