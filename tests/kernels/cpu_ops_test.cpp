// Every op on the CPU, every variant at every instruction set: the features of all ops against each
// other, and what must be the same bits whatever the layout.
#include <cstring>

#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

using CpuOps = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuOps, ::testing::ValuesIn(all_cpu_variants()), kernel_label);

std::vector<CpuKernel> without_table() {
  std::vector<CpuKernel> kernels = all_cpu_variants();
  std::erase_if(kernels, [](const CpuKernel& k) { return k.variant.uses_table != 0; });
  return kernels;
}
using CpuAngles = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuAngles, ::testing::ValuesIn(without_table()), kernel_label);

// C009, C015, C029, C033, C035, C049, C111, C113, C116, C118, C124, C125, C126, C129 and what they
// have in common: op_specs.cpp. Nothing is refused. Under sanitizers the widest instruction set of
// this machine computes them all, the others every fourth, each from another one on.
TEST_P(CpuOps, EveryPairOfFeatures) {
  const auto isa = static_cast<size_t>(GetParam().isa);
  expect_all_right(sampled(op_specs(GetParam().variant.op), at_widest_isa() ? 1 : 4, isa), 2);
}

// Exact angles at any position: no table, no float32 angle reaches that far.
TEST_P(CpuAngles, FarPositions) { expect_all_right(far_position_specs(), 2); }

ProblemSpec spec_for(const RopeVariant& variant, Dtype dtype) {
  ProblemSpec spec;
  spec.op = variant.op;
  spec.dtype = dtype;
  spec.head_dim = 40;
  spec.rotary_dim = 24;
  spec.num_tokens = 21;
  spec.norm = variant.op == ROPE_OP_NORM_SPLIT_ROPE ? ROPE_NORM_ROW : ROPE_NORM_NONE;
  return spec;
}

std::vector<std::byte> rows_after(const RopeVariant& variant, const ProblemSpec& spec,
                                  int num_threads) {
  Problem problem(spec);
  RopeKernelArgs args = problem.args(variant.uses_table != 0);
  args.num_threads = num_threads;
  EXPECT_EQ(variant.launch(&args), 0) << spec.name();
  return problem.rotated_rows();
}

// C036, C037: in place and out of place, packed and separate, [B, H, S, d] and [T, H, d], for any
// number of threads.
TEST_P(CpuOps, SameBitsInEveryLayout) {
  for (const Dtype dtype : kAllDtypes) {
    ProblemSpec spec = spec_for(GetParam().variant, dtype);
    const std::vector<std::byte> want = rows_after(GetParam().variant, spec, 1);
    for (const bool in_place : {true, false}) {
      for (const bool packed : {true, false}) {
        for (const bool heads_major : {true, false}) {
          spec.in_place = in_place;
          spec.packed = packed;
          spec.heads_major = heads_major;
          spec.out_heads_major = heads_major && in_place;
          for (const int num_threads : {1, 2, 3, 8}) {
            EXPECT_TRUE(rows_after(GetParam().variant, spec, num_threads) == want)
                << spec.name() << ", " << num_threads << " threads";
          }
        }
      }
    }
  }
}

// C009: token 0 alone is token 0 among others.
TEST_P(CpuOps, TokenZeroDoesNotDependOnTheOthers) {
  for (const Dtype dtype : kAllDtypes) {
    ProblemSpec spec = spec_for(GetParam().variant, dtype);
    spec.kv_heads = 0;  // so that its rows are the first
    const std::vector<std::byte> many = rows_after(GetParam().variant, spec, 2);
    spec.num_tokens = 1;
    const std::vector<std::byte> one = rows_after(GetParam().variant, spec, 2);
    ASSERT_FALSE(one.empty());
    EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size()), 0) << spec.name();
  }
}

// C031, C032: batch entries of equal rows come out equal, each counting from its own start.
TEST_P(CpuOps, EqualBatchEntriesGiveEqualBits) {
  constexpr int64_t kBatches = 3;
  for (const int64_t length : {1, 5}) {
    for (const bool heads_major : {false, true}) {
      ProblemSpec spec = spec_for(GetParam().variant, Dtype::kF32);
      spec.batch_tokens = length;
      spec.num_tokens = kBatches * length;
      spec.heads_major = spec.out_heads_major = heads_major;
      Problem problem(spec);
      const RopeKernelArgs args = args_of(problem);
      const auto each_row = [&](auto fn) {
        for (const RopeTensor* x : {&args.q, &args.k, &args.v}) {
          for (int64_t b = 1; b < kBatches; ++b) {
            for (int64_t s = 0; s < length; ++s) {
              for (int64_t h = 0; h < x->num_heads; ++h) {
                float* first =
                    static_cast<float*>(x->out) + s * x->out_token_stride + h * x->out_head_stride;
                fn(first, first + b * x->out_batch_stride);
              }
            }
          }
        }
      };
      const size_t bytes = static_cast<size_t>(spec.head_dim) * 4;
      each_row([&](float* first, float* other) { std::memcpy(other, first, bytes); });
      ASSERT_EQ(GetParam().variant.launch(&args), 0);
      int different = 0;
      each_row([&](float* first, float* other) {
        different += std::memcmp(first, other, bytes) != 0 ? 1 : 0;
      });
      EXPECT_EQ(different, 0) << spec.name();
    }
  }
}

// C049, C122, C125: positions by sequence are those written out, also where sequences are empty.
TEST_P(CpuOps, SequencesCountFromTheirStarts) {
  ProblemSpec spec = spec_for(GetParam().variant, Dtype::kBF16);
  spec.num_tokens = 8;
  spec.seq_lens = {3, 0, 5};
  spec.sequence_starts = true;
  spec.table_rows = 0;
  const std::vector<std::byte> by_ids = rows_after(GetParam().variant, spec, 2);
  for (const int source : {ROPE_POSITIONS_OFFSET, ROPE_POSITIONS_CU_SEQLENS}) {
    spec.position_source = source;
    EXPECT_TRUE(rows_after(GetParam().variant, spec, 2) == by_ids) << spec.name();
  }
}

// A hundred thousand sequences of no token, and of one.
TEST_P(CpuOps, ManySequences) {
  ProblemSpec spec = spec_for(GetParam().variant, Dtype::kBF16);
  spec.position_source = ROPE_POSITIONS_CU_SEQLENS;
  spec.head_dim = spec.rotary_dim = 8;
  spec.heads = spec.kv_heads = 1;
  spec.sequence_starts = true;
  spec.num_tokens = 0;
  spec.first_position = 0;
  for (int64_t b = 0; b < 100'000; ++b) {
    spec.seq_lens.push_back(b % 100 == 7 ? 1 : 0);
    spec.num_tokens += spec.seq_lens.back();
  }
  expect_right(spec);
}

// A row computes its own op and no other.
TEST_P(CpuOps, OtherOpsAreRefused) {
  Problem problem(spec_for(GetParam().variant, Dtype::kF32));
  RopeKernelArgs args = args_of(problem);
  args.op = (args.op + 1) % 6;
  char reason[256] = "";
  EXPECT_NE(GetParam().variant.why_not(&args, reason, sizeof(reason)), 0);
  EXPECT_EQ(std::string(reason), "op " + std::to_string(args.op) + " is not op " +
                                     std::to_string(GetParam().variant.op));
}

}  // namespace
}  // namespace rope_bench::testing
