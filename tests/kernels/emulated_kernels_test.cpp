// Runs every CUDA variant's own source on the host layer, over all that changes its path.
#include <gtest/gtest.h>
#include <rope_host_cuda.h>

#include "kernels/cuda/launchers.h"
#include "tests/kernels/problem_specs.h"

namespace rope_bench {
namespace {

using testing::Problem;
using testing::ProblemSpec;

std::vector<RopeVariant> variants() {
  size_t count = 0;
  const RopeVariant* rows = rope_cuda_variants(&count);
  return {rows, rows + count};
}

std::vector<RopeVariant> limits() {
  size_t count = 0;
  const RopeVariant* rows = rope_cuda_limits(&count);
  return {rows, rows + count};
}

using testing::kAllDtypes;
using testing::kBothPairings;

std::string launch(Problem& problem, const RopeVariant& variant) {
  const RopeKernelArgs args = problem.args(variant.uses_table != 0);
  if (variant.launch(&args) != 0) return "launch failed";
  return host_cuda::take_faults();
}

// Every variant must compute what it accepts, and accept all of this.
void expect_all_right(const std::vector<ProblemSpec>& specs) {
  for (const RopeVariant& variant : variants()) {
    const testing::SpecRun run = testing::run_specs(variant, specs, launch);
    EXPECT_GT(run.computed, 0) << variant.name;
    for (const auto& [reason, count] : run.refused) {
      ADD_FAILURE() << variant.name << " refuses " << count << " times: " << reason;
    }
  }
}

// C024, C025, C027, C011: every even head dim, rotary widths that are no power of two, one pair,
// partial.
TEST(EmulatedKernels, Dims) { expect_all_right(testing::dims_specs()); }

// C031, C032, C035, C043: token counts around block edges, GQA ratios, gaps, misaligned bases,
// 64-bit positions.
TEST(EmulatedKernels, Shapes) { expect_all_right(testing::shapes_specs()); }

TEST(EmulatedKernels, TableDtypes) { expect_all_right(testing::table_dtype_specs()); }

// A gptj pair at an odd element cannot be one access: a variant computes it in narrower ones or
// says so.
TEST(EmulatedKernels, OddBaseOfGptj) {
  ProblemSpec spec;
  spec.dtype = Dtype::kBF16;
  spec.pairing = Pairing::kGptj;
  spec.base_offset = 1;
  expect_all_right({spec});
}

// Every packet and block size that fast can be given; chunks of fewer tokens than the problem has,
// and of more.
TEST(EmulatedKernels, FastConfigs) {
  for (const Dtype dtype : kAllDtypes) {
    for (const Pairing pairing : kBothPairings) {
      for (const int bytes : {2, 4, 8, 16}) {
        for (const int threads : {32, 128, 256}) {
          for (const bool prefetch : {false, true}) {
            ProblemSpec spec;
            spec.dtype = dtype;
            spec.pairing = pairing;
            spec.head_dim = 128;
            spec.rotary_dim = 64;
            spec.in_place = false;
            spec.num_tokens = 5;
            Problem problem(spec);
            const RopeKernelArgs args = problem.args();
            if (!device::packet_fits(args, bytes)) continue;
            SCOPED_TRACE(spec.name() + " packet " + std::to_string(bytes));
            ASSERT_EQ(device::launch_fast_with(args, {bytes, threads, prefetch, prefetch ? 2 : 64}),
                      0);
            EXPECT_EQ(host_cuda::take_faults(), "");
            EXPECT_EQ(problem.check(variants()[0]), "");
          }
        }
      }
    }
  }
}

// The limit family touches the same bytes and leaves in-place data as it was; out of place it
// copies.
TEST(EmulatedKernels, LimitsMoveEveryByte) {
  for (const RopeVariant& limit : limits()) {
    for (const int gap : {0, 8}) {
      for (const int rotary_dim : {20, 32}) {
        for (const bool in_place : {true, false}) {
          ProblemSpec spec;
          spec.dtype = Dtype::kBF16;
          spec.head_dim = 32;
          spec.rotary_dim = rotary_dim;
          spec.token_gap = gap;
          spec.table_dtype = gap == 0 ? Dtype::kF32 : Dtype::kF16;
          spec.in_place = in_place;
          SCOPED_TRACE(std::string(limit.name) + ": " + spec.name());
          Problem problem(spec);
          const RopeKernelArgs args = problem.args();
          const std::vector<std::byte> before = problem.output_bytes();
          ASSERT_EQ(limit.launch(&args), 0);
          EXPECT_EQ(host_cuda::take_faults(), "");
          if (in_place) {
            EXPECT_EQ(problem.output_bytes(), before);
          } else {
            EXPECT_EQ(problem.check_copied(), "");
          }
        }
      }
    }
  }
}

// C021: a table narrower than the rotated dims is refused with both numbers.
TEST(EmulatedKernels, NarrowTableIsRefused) {
  ProblemSpec spec;
  spec.head_dim = 512;
  spec.rotary_dim = 64;
  Problem problem(spec);
  RopeKernelArgs args = problem.args();
  args.table_row_stride = 8;
  for (const RopeVariant& variant : variants()) {
    char reason[256] = "";
    EXPECT_NE(variant.why_not(&args, reason, sizeof(reason)), 0);
    EXPECT_NE(std::string(reason).find("4 pairs"), std::string::npos) << reason;
    EXPECT_NE(std::string(reason).find("32 pairs"), std::string::npos) << reason;
  }
}

// C009, C029: a slice that does not start at dim 0 is refused by name.
TEST(EmulatedKernels, RotaryOffsetIsRefused) {
  Problem problem(ProblemSpec{});
  RopeKernelArgs args = problem.args();
  args.q.rotary_offset = 4;
  for (const RopeVariant& variant : variants()) {
    char reason[256] = "";
    EXPECT_NE(variant.why_not(&args, reason, sizeof(reason)), 0);
    EXPECT_NE(std::string(reason).find("rotary_offset 4"), std::string::npos) << reason;
  }
}

}  // namespace
}  // namespace rope_bench
