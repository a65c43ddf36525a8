// CPU kernels and memory: stores that bypass the caches, indices beyond 32 bits, refusals, and the
// limit kernels, which move the bytes and nothing else.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

using CpuLayout = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuLayout, ::testing::ValuesIn(only_rope(all_cpu_variants())),
                         kernel_label);
using CpuLimit = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuLimit, ::testing::ValuesIn(all_cpu_limits()), kernel_label);

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// Cached and streamed stores write the same bytes, rows aligned for them or not, with gaps or not,
// and no others.
TEST_P(CpuLayout, StreamedStoresWriteTheSameBytes) {
  constexpr size_t kBytes = 1 << 20;
  for (const auto& [head_dim, rotary_dim] : {std::pair{128, 128},
                                             {128, 64},
                                             {64, 64},
                                             {80, 80},
                                             {96, 96},
                                             {192, 64},
                                             {20, 8},
                                             {2048, 64}}) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pairing pairing : kBothPairings) {
        for (const int misaligned : {0, 1, 16}) {
          ProblemSpec spec;
          spec.dtype = dtype;
          spec.pairing = pairing;
          spec.head_dim = head_dim;
          spec.rotary_dim = rotary_dim;
          spec.num_tokens = 19;
          spec.in_place = false;
          Problem problem(spec);
          RopeKernelArgs args = args_of(problem);
          std::unique_ptr<std::byte, Free> out[2];
          args.q.out_head_stride += misaligned % 16;
          args.q.out_token_stride = 4 * args.q.out_head_stride + misaligned;
          for (const bool stream : {false, true}) {
            out[stream].reset(static_cast<std::byte*>(std::aligned_alloc(4096, 2 * kBytes)));
            std::memset(out[stream].get(), 0x5a, 2 * kBytes);
            args.q.out = out[stream].get() + misaligned * info(dtype).size;
            args.k.out = out[stream].get() + kBytes;
            cpu_tuning().stream_from_bytes = stream ? 0 : INT64_MAX;
            ASSERT_EQ(GetParam().variant.launch(&args), 0);
          }
          EXPECT_EQ(std::memcmp(out[0].get(), out[1].get(), 2 * kBytes), 0)
              << spec.name() << " misaligned by " << misaligned;
        }
      }
    }
  }
}

// C044, C046: token and head strides that lead beyond 2^31 elements, in address space that is never
// filled.
TEST_P(CpuLayout, IndicesBeyond32Bits) {
  const int64_t token_stride = (int64_t{1} << 31) + 4096, head_stride = int64_t{1} << 30;
  const auto bytes = static_cast<size_t>((2 * token_stride + head_stride + 4096) * 2);
  void* space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) GTEST_SKIP() << "no address space of 12 GiB";
  ProblemSpec spec;
  spec.dtype = Dtype::kBF16;
  spec.heads = 2;
  spec.kv_heads = 1;
  Problem near(spec), far(spec);
  const RopeKernelArgs packed = args_of(near);
  ASSERT_EQ(GetParam().variant.launch(&packed), 0);
  ASSERT_EQ(near.check(GetParam().variant), "");
  RopeKernelArgs args = args_of(far);
  args.q.out = space;
  args.q.out_token_stride = token_stride;
  args.q.out_head_stride = head_stride;
  ASSERT_EQ(GetParam().variant.launch(&args), 0);
  for (int64_t token = 0; token < spec.num_tokens; ++token) {
    for (int64_t head = 0; head < 2; ++head) {
      const auto* large =
          static_cast<const uint16_t*>(space) + token * token_stride + head * head_stride;
      const auto* small = static_cast<const uint16_t*>(packed.q.out) +
                          token * packed.q.out_token_stride + head * packed.q.out_head_stride;
      EXPECT_EQ(std::memcmp(large, small, 16 * 2), 0) << "token " << token << " head " << head;
    }
  }
  munmap(space, bytes);
}

std::string refusal(const RopeVariant& variant, const RopeKernelArgs& args) {
  char reason[256] = "";
  if (variant.why_not(&args, reason, sizeof(reason)) == 0) return "accepted";
  EXPECT_NE(variant.launch(&args), 0) << "launched what it refuses";
  return reason;
}

// C021, C027, C029, C056: what is refused, and the words.
TEST_P(CpuLayout, Refusals) {
  ProblemSpec spec;
  spec.head_dim = spec.rotary_dim = 64;
  Problem problem(spec);
  const auto refused = [&](auto change) {
    RopeKernelArgs args = args_of(problem);
    change(args);
    return refusal(GetParam().variant, args);
  };
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.q.rotary_offset = -4; }), "rotary_offset -4 < 0");
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.rotary_dim = 0; }),
            "rotary_dim 0 is not even and in 2..64");
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.rotary_dim = 63; }),
            "rotary_dim 63 is not even and in 2..64");
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.rotary_dim = 66; }),
            "rotary_dim 66 is not even and in 2..64");
  if (GetParam().variant.uses_table != 0) {
    EXPECT_EQ(refused([](RopeKernelArgs& a) { a.table_row_stride = 8; }),
              "table rows of 4 pairs, rotary_dim 64 needs 32 pairs");
    EXPECT_EQ(refused([](RopeKernelArgs& a) { a.table_dtype = 3; }), "unknown table dtype 3");
  } else {
    EXPECT_EQ(refused([](RopeKernelArgs& a) { a.turns = nullptr; }),
              "no turns per position: needed without a table");
  }
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.position_bits = 16; }),
            "positions of 16 bits: 32 or 64");
  EXPECT_EQ(refused([](RopeKernelArgs& a) { a.q.out_head_stride += 2; }),
            "in place with unequal strides");
}

// The limits move what the op moves: in place every byte stays as it is, out of place all of a row
// is copied, to where the op's output goes; gaps, padding and guards are left alone.
TEST_P(CpuLimit, MovesEveryByteUnchanged) {
  const RopeVariant& limit = GetParam().variant;
  const bool streamed = std::string(limit.name) == "copy_streamed";
  std::vector<ProblemSpec> specs = op_specs(limit.op);
  for (const std::vector<ProblemSpec>& more : {dims_specs(), shapes_specs()})
    specs.insert(specs.end(), more.begin(), more.end());
  int64_t moved = 0;
  for (const ProblemSpec& spec : specs) {
    if (spec.op != limit.op) continue;
    SCOPED_TRACE(spec.name());
    Problem problem(spec);
    const RopeKernelArgs args = problem.args(moved % 2 == 0);
    char reason[256] = "";
    if (limit.why_not(&args, reason, sizeof(reason)) != 0) {
      ASSERT_TRUE(streamed && spec.in_place) << reason;
      continue;
    }
    ASSERT_EQ(limit.launch(&args), 0);
    ASSERT_EQ(problem.check_copied(), "");
    ++moved;
  }
  EXPECT_GT(moved, 100);
}

}  // namespace
}  // namespace rope_bench::testing
