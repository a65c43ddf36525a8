// Every op on the CPU, every variant at every instruction set: the features of all ops against each
// other.
#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

using CpuOps = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuOps, ::testing::ValuesIn(all_cpu_variants()), kernel_label);

TEST_P(CpuOps, EveryPairOfFeatures) { expect_all_right(op_specs(), 2); }

}  // namespace
}  // namespace rope_bench::testing
