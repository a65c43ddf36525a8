// The CUDA variants on a GPU: the problems of the host layer, and sizes that only a GPU reaches.
// Label `gpu`.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/launchers.h"
#include "tests/kernels/rope_problem.h"

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

// Runs a launch on device copies of the problem's buffers and copies them back.
void run_on_gpu(Problem& problem, int32_t (*launch)(const RopeKernelArgs*)) {
  RopeKernelArgs args = problem.args();
  std::vector<void*> copies;
  const auto move = [&](auto& pointer) {
    for (std::vector<std::byte>* buffer : problem.buffers()) {
      const auto* p = static_cast<const std::byte*>(static_cast<const void*>(pointer));
      if (p < buffer->data() || p > buffer->data() + buffer->size()) continue;
      size_t index = 0;
      while (problem.buffers()[index] != buffer) ++index;
      pointer = static_cast<std::byte*>(copies[index]) + (p - buffer->data());
      return;
    }
  };
  for (std::vector<std::byte>* buffer : problem.buffers()) {
    void* copy = nullptr;
    ASSERT_CUDA(cudaMalloc(&copy, std::max<size_t>(buffer->size(), 1)));
    ASSERT_CUDA(cudaMemcpy(copy, buffer->data(), buffer->size(), cudaMemcpyHostToDevice));
    copies.push_back(copy);
  }
  move(args.q.in);
  move(args.q.out);
  move(args.k.in);
  move(args.k.out);
  move(args.table);
  move(args.positions);
  ASSERT_CUDA(launch(&args));
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (size_t i = 0; i < copies.size(); ++i) {
    std::vector<std::byte>* buffer = problem.buffers()[i];
    ASSERT_CUDA(cudaMemcpy(buffer->data(), copies[i], buffer->size(), cudaMemcpyDeviceToHost));
    ASSERT_CUDA(cudaFree(copies[i]));
  }
}

void expect_right(const ProblemSpec& spec) {
  for (const RopeVariant& variant : variants()) {
    SCOPED_TRACE(std::string(variant.name) + ": " + spec.name());
    Problem problem(spec);
    const RopeKernelArgs args = problem.args();
    char reason[256] = "";
    ASSERT_EQ(variant.why_not(&args, reason, sizeof(reason)), 0) << reason;
    run_on_gpu(problem, variant.launch);
    EXPECT_EQ(problem.check(), "");
  }
}

const Dtype kAllDtypes[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};

// C011, C024, C025: head and rotary dims of real models and around them.
TEST(GpuKernels, Dims) {
  const std::pair<int, int> dims[] = {
      {2, 2},     {6, 6},    {46, 46},   {64, 16},   {64, 64},   {80, 20},  {80, 32},
      {96, 24},   {96, 96},  {100, 100}, {112, 112}, {128, 48},  {128, 64}, {128, 96},
      {128, 128}, {160, 40}, {192, 64},  {256, 64},  {256, 256}, {576, 64}, {576, 576}};
  for (const auto& [head_dim, rotary_dim] : dims) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : {Pairing::kNeox, Pairing::kGptj}) {
        for (const bool in_place : {true, false}) {
          ProblemSpec spec;
          spec.dtype = dtype;
          spec.pairing = pairing;
          spec.head_dim = head_dim;
          spec.rotary_dim = rotary_dim;
          spec.in_place = in_place;
          spec.num_tokens = 7;
          spec.heads = 6;
          spec.kv_heads = 2;
          expect_right(spec);
        }
      }
    }
  }
}

// C031, C032, C035, C043: GQA ratios, token counts, gaps, misaligned bases, both widths of
// positions.
TEST(GpuKernels, Shapes) {
  for (const auto& [heads, kv_heads] : {std::pair{71, 1}, {15, 5}, {14, 2}, {1, 1}, {232, 8}}) {
    for (const int64_t tokens : {1, 3, 64}) {
      for (const int misaligned : {0, 1, 4}) {
        for (const auto& [token_gap, head_gap] : {std::pair{0, 0}, {24, 0}, {6, 2}}) {
          ProblemSpec spec;
          spec.dtype = misaligned == 4 ? Dtype::kF16 : Dtype::kBF16;
          spec.pairing = tokens == 3 ? Pairing::kGptj : Pairing::kNeox;
          spec.heads = heads;
          spec.kv_heads = kv_heads;
          spec.num_tokens = tokens;
          spec.head_dim = 64;
          spec.rotary_dim = 32;
          spec.base_offset = misaligned;
          spec.token_gap = token_gap;
          spec.head_gap = head_gap;
          spec.position_bits = misaligned == 0 ? 64 : 32;
          spec.in_place = token_gap != 24;
          expect_right(spec);
        }
      }
    }
  }
}

TEST(GpuKernels, TableDtypes) {
  for (const ProblemSpec& spec : testing::table_dtype_specs()) expect_right(spec);
}

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
    expect_right(spec);
  }
}

// C037: in place gives the same bits as out of place, and again and again.
TEST(GpuKernels, InPlaceEqualsOutOfPlaceBitwise) {
  for (const RopeVariant& variant : variants()) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.heads = 32;
    spec.kv_heads = 32;
    spec.head_dim = spec.rotary_dim = 256;
    spec.num_tokens = 128;
    spec.in_place = false;
    Problem out_of_place(spec);
    run_on_gpu(out_of_place, variant.launch);
    const std::vector<std::byte> want = out_of_place.rotated_rows();
    spec.in_place = true;
    Problem in_place(spec);
    for (int repetition = 0; repetition < 20; ++repetition) {
      in_place.reset();
      run_on_gpu(in_place, variant.launch);
      ASSERT_EQ(in_place.rotated_rows(), want) << variant.name << ", repetition " << repetition;
    }
  }
}

// C031, C032: a token alone gives the same bits as in any batch.
TEST(GpuKernels, TokenZeroDoesNotDependOnTheBatch) {
  for (const RopeVariant& variant : variants()) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.head_dim = 128;
    spec.rotary_dim = 96;
    spec.num_tokens = 1;
    Problem alone(spec);
    run_on_gpu(alone, variant.launch);
    const std::vector<std::byte> want = alone.rotated_rows();
    for (const int64_t tokens : {2, 511, 513, 4096}) {
      spec.num_tokens = tokens;
      spec.first_position = 100;
      spec.table_rows = 100 + tokens;
      Problem batch(spec);
      run_on_gpu(batch, variant.launch);
      const size_t row = static_cast<size_t>(spec.heads * spec.head_dim) * 2;
      const std::vector<std::byte> got = batch.rotated_rows();
      EXPECT_EQ(std::memcmp(got.data(), want.data(), row), 0)
          << variant.name << ' ' << tokens << " tokens";
    }
  }
}

}  // namespace
}  // namespace rope_bench
