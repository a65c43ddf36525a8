// The plain kernels in every shape that `fast` and `on_the_fly` give them at some number of tokens,
// as variants of their own: small problems would only meet the shapes for few tokens.
#ifndef ROPE_BENCH_TESTS_KERNELS_CONFIG_VARIANTS_H_
#define ROPE_BENCH_TESTS_KERNELS_CONFIG_VARIANTS_H_

#include <vector>

#include "kernels/arguments.h"
#include "kernels/cuda/launchers.h"
#include "kernels/cuda/vector_launch.h"

namespace rope_bench::testing {

template <int kBytes, int kThreads, int kHeads, bool kTable>
struct ConfigVariant {
  static constexpr device::VectorConfig kConfig = {kBytes, kThreads, kHeads, true, 8, 1};

  static RopeKernelArgs read(const RopeKernelArgs* args) {
    RopeKernelArgs result = *args;
    if (!kTable) result.table = nullptr;
    return result;
  }
  static int32_t why_not(const RopeKernelArgs* args, char* reason, size_t size) {
    const RopeKernelArgs a = read(args);
    device::VectorLaunch how;
    how.config = kConfig;
    const bool rotates_only = a.norm == ROPE_NORM_NONE && a.bias == nullptr;
    if (rotates_only) how.stages = {false, false, true};
    if (!device::packet_fits(a, how.stages, kBytes) || !device::is_plain(a, how))
      return refuse(reason, size, "not plain with packets of %d bytes", kBytes);
    return 0;
  }
  static int32_t launch(const RopeKernelArgs* args) {
    return device::launch_fast_with(read(args), kConfig);
  }
  static RopeVariant of(int32_t op) {
    RopeVariant v{};
    v.struct_size = sizeof(v);
    v.op = op;
    v.device = ROPE_DEVICE_CUDA;
    v.uses_table = kTable ? 1 : 0;
    v.precision = ROPE_PRECISION_FUSED;
    v.name = kTable ? "fast" : "on_the_fly";
    v.why_not = why_not;
    v.launch = launch;
    return v;
  }
};

template <bool kTable>
std::vector<RopeVariant> config_variants(int32_t op) {
  return {ConfigVariant<16, 64, 1, kTable>::of(op), ConfigVariant<16, 256, 1, kTable>::of(op),
          ConfigVariant<16, 64, 2, kTable>::of(op), ConfigVariant<16, 128, 2, kTable>::of(op),
          ConfigVariant<8, 256, 1, kTable>::of(op), ConfigVariant<4, 128, 1, kTable>::of(op),
          ConfigVariant<2, 64, 1, kTable>::of(op)};
}

// Ops that the plain kernels compute.
inline constexpr int32_t kPlainOps[] = {ROPE_OP_ROPE,
                                        ROPE_OP_SPLIT_ROPE,
                                        ROPE_OP_NORM_SPLIT_ROPE,
                                        ROPE_OP_VARLEN_SPLIT_ROPE,
                                        ROPE_OP_ROPE_BACKWARD,
                                        ROPE_OP_SPLIT_ROPE_BACKWARD};

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_CONFIG_VARIANTS_H_
