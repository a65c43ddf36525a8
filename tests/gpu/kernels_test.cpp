// The CUDA variants on a GPU: the problems of the host layer, and sizes that only a GPU reaches.
// Label `gpu`.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/launchers.h"
#include "tests/kernels/config_variants.h"
#include "tests/kernels/problem_specs.h"

namespace rope_bench {
namespace {

using testing::Problem;
using testing::ProblemSpec;

#define ASSERT_CUDA(call) ASSERT_EQ(static_cast<int>(call), static_cast<int>(cudaSuccess)) << #call

std::vector<RopeVariant> variants() {
  size_t count = 0;
  const RopeVariant* rows = rope_cuda_variants(&count);
  return {rows, rows + count};
}

// Runs a variant on device copies of the problem's buffers and copies them back.
void run_on_gpu(Problem& problem, const RopeVariant& variant) {
  RopeKernelArgs args = problem.args(variant.uses_table != 0);
  const std::vector<std::vector<std::byte>*> buffers = problem.buffers();
  std::vector<std::byte*> copies;
  for (std::vector<std::byte>* buffer : buffers) {
    void* copy = nullptr;
    ASSERT_CUDA(cudaMalloc(&copy, buffer->size()));
    ASSERT_CUDA(cudaMemcpy(copy, buffer->data(), buffer->size(), cudaMemcpyHostToDevice));
    copies.push_back(static_cast<std::byte*>(copy));
  }
  for (const void** pointer : testing::pointers(args)) {
    const auto* p = static_cast<const std::byte*>(*pointer);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (p < buffers[i]->data() || p >= buffers[i]->data() + buffers[i]->size()) continue;
      *pointer = copies[i] + (p - buffers[i]->data());
      break;
    }
  }
  ASSERT_CUDA(variant.launch(&args));
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (size_t i = 0; i < copies.size(); ++i) {
    ASSERT_CUDA(
        cudaMemcpy(buffers[i]->data(), copies[i], buffers[i]->size(), cudaMemcpyDeviceToHost));
    ASSERT_CUDA(cudaFree(copies[i]));
  }
}

std::vector<RopeVariant> variants_of(int32_t op) {
  std::vector<RopeVariant> all = variants();
  std::erase_if(all, [&](const RopeVariant& v) { return v.op != op; });
  return all;
}

// Every variant must compute what it accepts, and accept all of this.
void expect_all_right(const std::vector<ProblemSpec>& specs, int32_t op = ROPE_OP_ROPE) {
  for (const RopeVariant& variant : variants_of(op)) {
    const testing::SpecRun run = testing::run_specs(
        variant, specs, [](Problem& problem, const RopeVariant& row) -> std::string {
          run_on_gpu(problem, row);
          return {};  // the assertions there speak for themselves
        });
    EXPECT_GT(run.computed, 0) << variant.name;
    for (const auto& [reason, count] : run.refused) {
      // The one mapping that has no place for it.
      if (std::string(variant.name) == "per_head" && reason.starts_with("a norm over all heads"))
        continue;
      ADD_FAILURE() << variant.name << " refuses " << count << " times: " << reason;
    }
  }
}

// Every feature of every op with every other.
TEST(GpuOps, Rope) { expect_all_right(testing::op_specs(ROPE_OP_ROPE), ROPE_OP_ROPE); }
TEST(GpuOps, SplitRope) {
  expect_all_right(testing::op_specs(ROPE_OP_SPLIT_ROPE), ROPE_OP_SPLIT_ROPE);
}
TEST(GpuOps, NormSplitRope) {
  expect_all_right(testing::op_specs(ROPE_OP_NORM_SPLIT_ROPE), ROPE_OP_NORM_SPLIT_ROPE);
}
TEST(GpuOps, VarlenSplitRope) {
  expect_all_right(testing::op_specs(ROPE_OP_VARLEN_SPLIT_ROPE), ROPE_OP_VARLEN_SPLIT_ROPE);
}
TEST(GpuOps, RopeBackward) {
  expect_all_right(testing::op_specs(ROPE_OP_ROPE_BACKWARD), ROPE_OP_ROPE_BACKWARD);
}
TEST(GpuOps, SplitRopeBackward) {
  expect_all_right(testing::op_specs(ROPE_OP_SPLIT_ROPE_BACKWARD), ROPE_OP_SPLIT_ROPE_BACKWARD);
}

// What a GPU alone tells: whether registers and shared memory suffice.
TEST(GpuOps, WideBlocks) {
  for (int32_t op = ROPE_OP_ROPE; op <= ROPE_OP_SPLIT_ROPE_BACKWARD; ++op)
    expect_all_right(testing::wide_specs(op), op);
}

TEST(GpuOps, ManySequences) {
  expect_all_right(testing::many_sequences_specs(), ROPE_OP_VARLEN_SPLIT_ROPE);
}

// The plain kernels, in every shape that they are given.
TEST(GpuPlain, EveryConfig) {
  for (const int32_t op : testing::kPlainOps) {
    const std::vector<ProblemSpec> specs = testing::plain_specs(op);
    std::vector<RopeVariant> configs = testing::config_variants<true>(op);
    for (const RopeVariant& config : testing::config_variants<false>(op)) configs.push_back(config);
    for (const RopeVariant& config : configs) {
      const testing::SpecRun run = testing::run_specs(
          config, specs, [](Problem& problem, const RopeVariant& row) -> std::string {
            run_on_gpu(problem, row);
            return {};
          });
      EXPECT_GT(run.computed, 10) << config.name;
    }
  }
}

TEST(GpuKernels, FarPositionsWithoutATable) {
  for (const RopeVariant& variant : variants_of(ROPE_OP_ROPE)) {
    if (variant.uses_table || variant.precision != ROPE_PRECISION_FUSED) continue;
    const testing::SpecRun run = testing::run_specs(variant, testing::far_position_specs(),
                                                    [](Problem& problem, const RopeVariant& row) {
                                                      run_on_gpu(problem, row);
                                                      return std::string();
                                                    });
    EXPECT_GT(run.computed, 0);
  }
}

// C011, C024, C025: head and rotary dims of real models and around them.
TEST(GpuKernels, Dims) { expect_all_right(testing::dims_specs()); }

// C031, C032, C035, C043: GQA ratios, token counts, gaps, misaligned bases, both widths of
// positions.
TEST(GpuKernels, Shapes) { expect_all_right(testing::shapes_specs()); }

TEST(GpuKernels, TableDtypes) { expect_all_right(testing::table_dtype_specs()); }

// C047: more tokens than one dimension of a grid, but x, has blocks.
TEST(GpuKernels, TokensAround65535) {
  for (const int64_t tokens : {65535, 65536, 65537}) {
    ProblemSpec spec;
    spec.dtype = Dtype::kF16;
    spec.heads = spec.kv_heads = 1;
    spec.head_dim = spec.rotary_dim = 64;
    spec.num_tokens = tokens;
    spec.first_position = 0;
    spec.table_rows = tokens;
    expect_all_right({spec});
  }
}

// C037: in place gives the same bits as out of place, and again and again.
TEST(GpuKernels, InPlaceEqualsOutOfPlaceBitwise) {
  for (const RopeVariant& variant : variants_of(ROPE_OP_ROPE)) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.heads = 32;
    spec.kv_heads = 32;
    spec.head_dim = spec.rotary_dim = 256;
    spec.num_tokens = 128;
    spec.in_place = false;
    Problem out_of_place(spec);
    run_on_gpu(out_of_place, variant);
    const std::vector<std::byte> want = out_of_place.rotated_rows();
    spec.in_place = true;
    Problem in_place(spec);
    for (int repetition = 0; repetition < 20; ++repetition) {
      in_place.reset();
      run_on_gpu(in_place, variant);
      ASSERT_EQ(in_place.rotated_rows(), want) << variant.name << ", repetition " << repetition;
    }
  }
}

// C009, C031, C032: a token alone gives the same bits as in any batch.
TEST(GpuKernels, TokenZeroDoesNotDependOnTheBatch) {
  for (const RopeVariant& variant : variants()) {
    ProblemSpec spec;
    spec.op = variant.op;
    spec.dtype = Dtype::kBF16;
    spec.heads = 16;
    spec.kv_heads = 4;
    spec.head_dim = 128;
    spec.rotary_dim = 64;
    spec.num_tokens = 1;
    if (spec.op != ROPE_OP_ROPE) spec.in_place = false;
    if (spec.op == ROPE_OP_NORM_SPLIT_ROPE) spec.norm = ROPE_NORM_HEAD;
    Problem alone(spec);
    run_on_gpu(alone, variant);
    EXPECT_EQ(alone.check(variant), "");
    const std::vector<std::byte> want = alone.rotated_rows();
    for (const int64_t tokens : {2, 511, 512, 513, 4096}) {
      spec.num_tokens = tokens;
      spec.first_position = 100;
      spec.table_rows = 100 + tokens;
      Problem batch(spec);
      run_on_gpu(batch, variant);
      const size_t row = static_cast<size_t>(spec.heads * spec.head_dim) * 2;
      const std::vector<std::byte> got = batch.rotated_rows();
      EXPECT_EQ(std::memcmp(got.data(), want.data(), row), 0)
          << variant.name << ' ' << tokens << " tokens";
      if (tokens > 513) continue;
      EXPECT_EQ(batch.check(variant), "") << variant.name << ' ' << tokens << " tokens";
    }
  }
}

}  // namespace
}  // namespace rope_bench
