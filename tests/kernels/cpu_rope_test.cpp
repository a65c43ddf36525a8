// Every CPU variant at every instruction set against the double reference, over all that changes
// its path.
#include <algorithm>

#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

using CpuRope = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuRope, ::testing::ValuesIn(only_rope(all_cpu_variants())),
                         kernel_label);

// C024, C025, C027: every kind of head dim; rotary dims that fill no vector, or one pair; partial
// with pass-through dims full of NaN payloads (C011).
TEST_P(CpuRope, Dims) { expect_all_right(sampled(dims_specs(), at_widest_isa() ? 1 : 5, 0)); }

// C035, C036 and beyond: heads and tokens that no group divides, gaps behind heads and tokens,
// bases that miss their alignment, both widths of positions.
TEST_P(CpuRope, Shapes) { expect_all_right(sampled(shapes_specs(), at_widest_isa() ? 1 : 7, 0)); }

// The table in each dtype: what is widened is what the reference takes.
TEST_P(CpuRope, TableDtypes) { expect_all_right(table_dtype_specs()); }

// C025: with r = 96 the partner of dim 0 is dim 48, at positions 100 to 132.
TEST_P(CpuRope, WidthsThatAreNoPowerOfTwo) {
  for (const int rotary_dim : {96, 48}) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.head_dim = 128;
    spec.rotary_dim = rotary_dim;
    spec.num_tokens = 33;
    expect_right(spec);
  }
}

// More dims than the kernels keep factors of at a time.
TEST_P(CpuRope, WideHeads) {
  for (const Pairing pairing : kBothPairings) {
    for (const int rotary_dim : {514, 1024, 1500}) {
      ProblemSpec spec;
      spec.pairing = pairing;
      spec.head_dim = 1504;
      spec.rotary_dim = rotary_dim;
      spec.in_place = false;
      expect_right(spec, 1);
      expect_right(spec, 2);
    }
  }
}

// C015, C036, C037: in place and out of place give the same bits, however many threads work.
TEST_P(CpuRope, SameBitsInPlaceAndForAnyThreadCount) {
  for (const Dtype dtype : kAllDtypes) {
    for (const Pairing pairing : kBothPairings) {
      std::vector<std::byte> first;
      for (const bool in_place : {true, false}) {
        for (const int num_threads : {1, 2, 3, 8}) {
          ProblemSpec spec;
          spec.dtype = dtype;
          spec.pairing = pairing;
          spec.head_dim = 64;
          spec.rotary_dim = 48;
          spec.heads = 3;
          spec.kv_heads = 3;
          spec.num_tokens = 21;
          spec.in_place = in_place;
          Problem problem(spec);
          RopeKernelArgs args = args_of(problem);
          args.num_threads = num_threads;
          ASSERT_EQ(GetParam().variant.launch(&args), 0);
          // Without gaps both layouts are the same but for the guard bands.
          const size_t size = info(dtype).size * 64 * 3 * 21;
          const auto* q = static_cast<const std::byte*>(args.q.out);
          const auto* k = static_cast<const std::byte*>(args.k.out);
          std::vector<std::byte> bytes(q, q + size);
          bytes.insert(bytes.end(), k, k + size);
          if (first.empty()) first = bytes;
          EXPECT_EQ(bytes, first) << spec.name() << ", " << num_threads << " threads";
        }
      }
    }
  }
}

// C007, C031: equal heads at equal positions give equal bits, whatever token and head they are.
TEST_P(CpuRope, EqualRowsGiveEqualBits) {
  constexpr int64_t kTokens = 6, kHeads = 8, kDim = 80;
  for (const Pairing pairing : kBothPairings) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.pairing = pairing;
    spec.num_tokens = kTokens;
    spec.heads = spec.kv_heads = kHeads;
    spec.head_dim = spec.rotary_dim = kDim;
    Problem problem(spec);
    const RopeKernelArgs args = args_of(problem);
    auto* positions = static_cast<int32_t*>(const_cast<void*>(args.positions));
    std::fill_n(positions, kTokens, 103);
    auto* q = static_cast<uint16_t*>(args.q.out);
    for (int64_t row = 1; row < kTokens * kHeads; ++row) std::copy_n(q, kDim, q + row * kDim);
    const std::vector<uint16_t> before(q, q + kDim);
    ASSERT_EQ(GetParam().variant.launch(&args), 0);
    for (int64_t row = 1; row < kTokens * kHeads; ++row) {
      ASSERT_TRUE(std::equal(q, q + kDim, q + row * kDim)) << "row " << row;
    }
    EXPECT_FALSE(std::equal(before.begin(), before.end(), q));
  }
}

// C043: the stride of an axis of size 1 means nothing, in place too.
TEST_P(CpuRope, StridesOfSingleTokenAndHead) {
  for (const int64_t stride : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
    ProblemSpec spec;
    spec.num_tokens = 1;
    spec.heads = spec.kv_heads = 1;
    Problem problem(spec);
    RopeKernelArgs args = args_of(problem);
    for (RopeTensor* x : {&args.q, &args.k}) x->in_token_stride = x->in_head_stride = stride;
    char reason[256] = "";
    ASSERT_EQ(GetParam().variant.why_not(&args, reason, sizeof(reason)), 0) << reason;
    ASSERT_EQ(GetParam().variant.launch(&args), 0);
    EXPECT_EQ(problem.check(GetParam().variant), "");
  }
}

// C047: more tokens than 16 bits count.
TEST_P(CpuRope, ManyTokens) {
  for (const int64_t tokens : {65535, 65536, 65537}) {
    ProblemSpec spec;
    spec.dtype = Dtype::kF16;
    spec.num_tokens = tokens;
    spec.heads = spec.kv_heads = 1;
    spec.head_dim = spec.rotary_dim = 2;
    spec.first_position = 0;
    spec.table_rows = tokens;
    expect_right(spec);
  }
}

// No heads at all on one side: nothing to do there.
TEST_P(CpuRope, NoKeyHeads) {
  ProblemSpec spec;
  spec.kv_heads = 0;
  expect_right(spec);
  spec.heads = 0;
  expect_right(spec);
}

}  // namespace
}  // namespace rope_bench::testing
