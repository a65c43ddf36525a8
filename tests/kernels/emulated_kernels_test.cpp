// Runs every CUDA variant's own source on the host layer, over all that changes its path.
#include <gtest/gtest.h>
#include <rope_host_cuda.h>

#include "kernels/cuda/launchers.h"
#include "tests/kernels/rope_problem.h"

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

const std::vector<Dtype> kAllDtypes = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
const std::vector<Pairing> kBothPairings = {Pairing::kNeox, Pairing::kGptj};

// Every variant must compute what it accepts, and accept all of this.
void expect_right(const ProblemSpec& spec) {
  for (const RopeVariant& variant : variants()) {
    SCOPED_TRACE(std::string(variant.name) + ": " + spec.name());
    Problem problem(spec);
    const RopeKernelArgs args = problem.args();
    char reason[256] = "";
    ASSERT_EQ(variant.why_not(&args, reason, sizeof(reason)), 0) << reason;
    ASSERT_EQ(variant.launch(&args), 0);
    EXPECT_EQ(host_cuda::take_faults(), "");
    EXPECT_EQ(problem.check(), "");
  }
}

// C024, C025, C027, C011: every even head dim, rotary widths that are no power of two, one pair,
// partial.
TEST(EmulatedKernels, Dims) {
  const std::pair<int, int> dims[] = {
      {2, 2},    {4, 4},    {6, 6},     {6, 2},     {16, 16},   {32, 24},   {40, 40},  {46, 46},
      {48, 46},  {64, 64},  {64, 2},    {64, 32},   {72, 72},   {80, 20},   {80, 32},  {80, 80},
      {96, 24},  {96, 96},  {100, 100}, {112, 112}, {128, 48},  {128, 64},  {128, 96}, {128, 128},
      {160, 40}, {192, 64}, {224, 224}, {256, 64},  {256, 256}, {512, 512}, {576, 64}, {576, 576}};
  for (const auto& [head_dim, rotary_dim] : dims) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : kBothPairings) {
        for (const bool in_place : {true, false}) {
          ProblemSpec spec;
          spec.dtype = dtype;
          spec.pairing = pairing;
          spec.head_dim = head_dim;
          spec.rotary_dim = rotary_dim;
          spec.in_place = in_place;
          spec.num_tokens = 2;
          spec.heads = 3;
          spec.kv_heads = 1;
          expect_right(spec);
        }
      }
    }
  }
}

// C031, C032, C035, C043: token counts around block edges, GQA ratios, gaps, misaligned bases,
// 64-bit positions.
TEST(EmulatedKernels, Shapes) {
  const std::pair<int, int> heads[] = {{1, 1}, {3, 0},  {0, 2},  {0, 0},
                                       {4, 4}, {14, 2}, {15, 5}, {71, 1}};
  for (const auto& [q, k] : heads) {
    for (const int64_t tokens : {0, 1, 7, 17}) {
      if (q > 15 && tokens > 1) continue;  // fibers under sanitizers are slow
      for (const int misaligned : {0, 1, 4}) {
        ProblemSpec spec;
        spec.dtype = Dtype::kBF16;
        spec.heads = q;
        spec.kv_heads = k;
        spec.num_tokens = tokens;
        spec.head_dim = 32;
        spec.rotary_dim = 16;
        spec.base_offset = misaligned;
        spec.position_bits = misaligned % 2 == 0 ? 32 : 64;
        spec.pairing = tokens % 2 == 0 ? Pairing::kNeox : Pairing::kGptj;
        // gptj needs whole pairs to be aligned in the vector kernels only for its packets: odd
        // bases are neox here.
        for (const auto& [token_gap, head_gap] :
             {std::pair{0, 0}, std::pair{24, 0}, std::pair{6, 2}, std::pair{0, 8}}) {
          spec.token_gap = token_gap;
          spec.head_gap = head_gap;
          for (const bool in_place : {true, false}) {
            spec.in_place = in_place;
            expect_right(spec);
          }
        }
      }
    }
  }
}

TEST(EmulatedKernels, TableDtypes) {
  for (const ProblemSpec& spec : testing::table_dtype_specs()) expect_right(spec);
}

// A gptj pair at an odd element cannot be one access: a variant computes it in narrower ones or
// says so.
TEST(EmulatedKernels, OddBaseOfGptj) {
  ProblemSpec spec;
  spec.dtype = Dtype::kBF16;
  spec.pairing = Pairing::kGptj;
  spec.base_offset = 1;
  expect_right(spec);
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
            if (!device::packet_fits(args, {false, false, true}, bytes)) continue;
            SCOPED_TRACE(spec.name() + " packet " + std::to_string(bytes));
            ASSERT_EQ(device::launch_fast_with(args, {bytes, threads, prefetch, prefetch ? 2 : 64}),
                      0);
            EXPECT_EQ(host_cuda::take_faults(), "");
            EXPECT_EQ(problem.check(), "");
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
