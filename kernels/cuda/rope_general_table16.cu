#include "kernels/cuda/rope_general_launch.cuh"

namespace rope_bench::device {

int32_t launch_rope_table16(const RopeKernelArgs& args, const VectorLaunch& how) {
  return start_rope_general<Source::kTable16>(args, how);
}

}  // namespace rope_bench::device
