// Every CPU variant at every instruction set that this machine has, as test parameters.
#ifndef ROPE_BENCH_TESTS_KERNELS_CPU_TEST_KERNELS_H_
#define ROPE_BENCH_TESTS_KERNELS_CPU_TEST_KERNELS_H_

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "kernels/cpu/tuning.h"
#include "kernels/kernel_api.h"
#include "tests/kernels/problem_specs.h"

namespace rope_bench::testing {

// Puts the tuning back at the end of a scope.
class TuningScope {
 public:
  TuningScope() : saved_(cpu_tuning()) {}
  ~TuningScope() { cpu_tuning() = saved_; }
  TuningScope(const TuningScope&) = delete;
  TuningScope& operator=(const TuningScope&) = delete;

 private:
  CpuTuning saved_;
};

struct CpuKernel {
  RopeVariant variant;
  CpuIsa isa;
  std::string label() const {
    static const char* const kOps[] = {"rope",   "split",    "norm_split",
                                       "varlen", "backward", "split_backward"};
    return std::string(kOps[variant.op]) + "_" + variant.name + "_" + name(isa);
  }
};

// For messages of GoogleTest.
inline void PrintTo(const CpuKernel& kernel, std::ostream* out) { *out << kernel.label(); }

inline std::vector<CpuKernel> at_every_isa(const RopeVariant* rows, size_t count) {
  std::vector<CpuKernel> kernels;
  for (size_t i = 0; i < count; ++i) {
    for (CpuIsa isa : kCpuIsas) {
      const bool has_isa = std::string(rows[i].name) != "naive";
      if (is_supported(isa) && (has_isa || isa == CpuIsa::kBaseline)) {
        kernels.push_back({rows[i], isa});
      }
    }
  }
  return kernels;
}

inline std::vector<CpuKernel> all_cpu_variants() {
  size_t count = 0;
  const RopeVariant* rows = rope_cpu_variants(&count);
  return at_every_isa(rows, count);
}

inline std::vector<CpuKernel> only_ops(std::vector<CpuKernel> kernels,
                                       const std::set<int32_t>& ops) {
  std::erase_if(kernels, [&](const CpuKernel& k) { return ops.count(k.variant.op) == 0; });
  return kernels;
}
inline std::vector<CpuKernel> only_rope(const std::vector<CpuKernel>& kernels) {
  return only_ops(kernels, {ROPE_OP_ROPE});
}
// Those that can be given any cos and sin.
inline std::vector<CpuKernel> only_with_table(std::vector<CpuKernel> kernels) {
  std::erase_if(kernels, [](const CpuKernel& k) { return k.variant.uses_table == 0; });
  return kernels;
}

inline std::vector<CpuKernel> all_cpu_limits() {
  size_t count = 0;
  const RopeVariant* rows = rope_cpu_limits(&count);
  return at_every_isa(rows, count);
}

// Forces the parameter's instruction set, and threads for however little work.
class CpuKernelTest : public ::testing::TestWithParam<CpuKernel> {
 protected:
  CpuKernelTest() : widest_isa_(cpu_tuning().isa) {
    cpu_tuning().isa = GetParam().isa;
    cpu_tuning().grain_bytes = 1;
  }

  // Or the only one of this variant.
  bool at_widest_isa() const {
    return GetParam().isa == widest_isa_ || std::string(GetParam().variant.name) == "naive";
  }

  static RopeKernelArgs args_of(Problem& problem) {
    return problem.args(GetParam().variant.uses_table != 0);
  }

  void expect_right(const ProblemSpec& spec, int num_threads = 2) {
    SCOPED_TRACE(spec.name());
    Problem problem(spec);
    RopeKernelArgs args = args_of(problem);
    args.num_threads = num_threads;
    char reason[256] = "";
    ASSERT_EQ(GetParam().variant.why_not(&args, reason, sizeof(reason)), 0) << reason;
    ASSERT_EQ(GetParam().variant.launch(&args), 0);
    EXPECT_EQ(problem.check(GetParam().variant), "");
  }

  // All of these, those of other ops apart: nothing is refused.
  void expect_all_right(const std::vector<ProblemSpec>& specs, int num_threads = 2) {
    const auto launch = [&](Problem& problem, const RopeVariant& variant) -> std::string {
      RopeKernelArgs args = problem.args(variant.uses_table != 0);
      args.num_threads = num_threads;
      return variant.launch(&args) == 0 ? "" : "launch failed";
    };
    const SpecRun run = run_specs(GetParam().variant, specs, launch);
    EXPECT_GT(run.computed, 0);
    for (const auto& [reason, count] : run.refused) ADD_FAILURE() << count << " times: " << reason;
  }

 private:
  TuningScope scope_;
  CpuIsa widest_isa_;
};

inline std::string kernel_label(const ::testing::TestParamInfo<CpuKernel>& info) {
  return info.param.label();
}

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_CPU_TEST_KERNELS_H_
