// What blocks bring into L2 is what blocks to come load. Wrong lines would cost time, not
// correctness: no comparison of outputs sees them.
#include <gtest/gtest.h>
#include <rope_host_cuda.h>

#include <map>
#include <set>

#include "kernels/cuda/launchers.h"
#include "kernels/cuda/vector_launch.h"
#include "tests/kernels/problem_specs.h"

namespace rope_bench {
namespace {

using testing::Problem;
using testing::ProblemSpec;

using Block = std::pair<uint32_t, uint32_t>;  // y, x
using Lines = std::map<Block, std::set<uintptr_t>>;

struct Observed {
  Lines loaded, prefetched;  // of tensors
};

bool lies_in(const RopeTensor& t, const RopeKernelArgs& args, const char* at) {
  if (t.num_heads == 0) return false;
  const int64_t last = (args.num_tokens - 1) * t.in_token_stride +
                       (t.num_heads - 1) * t.in_head_stride + args.head_dim;
  const auto* begin = static_cast<const char*>(t.in);
  return at >= begin && at < begin + last * device::element_size(args.dtype);
}

Observed observe(const RopeKernelArgs& args, const device::VectorConfig& config) {
  std::vector<host_cuda::Access> accesses;
  host_cuda::record_accesses(&accesses);
  EXPECT_EQ(device::launch_fast_with(args, config), 0);
  host_cuda::record_accesses(nullptr);
  EXPECT_EQ(host_cuda::take_faults(), "");
  Observed observed;
  for (const host_cuda::Access& access : accesses) {
    if (!lies_in(args.q, args, access.at) && !lies_in(args.k, args, access.at) &&
        !lies_in(args.v, args, access.at))
      continue;
    Lines& lines = access.is_prefetch ? observed.prefetched : observed.loaded;
    lines[{access.block_y, access.block_x}].insert(reinterpret_cast<uintptr_t>(access.at) / 128);
  }
  return observed;
}

// What each block should bring: what is loaded `ahead` later in its chunk. The first blocks, which
// bring rows of the table, bring nothing else.
Lines expected(const Lines& loaded, uint32_t ahead) {
  const uint32_t first = loaded.begin()->first.second;
  Lines result;
  for (const auto& [block, lines] : loaded)
    if (block.second >= first + ahead) result[{block.first, block.second - ahead}] = lines;
  return result;
}

// Tensors that begin at lines and elsewhere, rotated whole and in part, with heads that threads
// share out evenly and not.
std::vector<ProblemSpec> specs_of(int32_t op) {
  std::vector<ProblemSpec> specs;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBF16}) {
    for (const Pairing pairing : testing::kBothPairings) {
      for (const int rotary_dim : {128, 64}) {
        for (const bool in_place : {true, false}) {
          for (const int shift : {0, 8}) {
            ProblemSpec spec;
            spec.op = op;
            spec.dtype = dtype;
            spec.pairing = pairing;
            spec.num_tokens = 40;
            spec.heads = shift == 0 ? 4 : 3;
            spec.kv_heads = shift == 0 ? 2 : 1;
            spec.head_dim = 128;
            spec.rotary_dim = rotary_dim;
            spec.in_place = in_place;
            spec.packed = op != ROPE_OP_ROPE;
            spec.base_offset = shift;
            spec.token_gap = shift;
            if (op == ROPE_OP_NORM_SPLIT_ROPE) spec.norm = ROPE_NORM_HEAD;
            if (op == ROPE_OP_VARLEN_SPLIT_ROPE) {
              spec.position_source =
                  in_place == (shift == 0) ? ROPE_POSITIONS_CU_SEQLENS : ROPE_POSITIONS_IDS;
              spec.seq_lens = testing::sequences_of(spec.num_tokens, true);
            }
            specs.push_back(spec);
          }
        }
      }
    }
  }
  return specs;
}

void expect_ahead(const ProblemSpec& spec, bool uses_table, const device::VectorConfig& config) {
  Problem problem(spec);
  const RopeKernelArgs args = problem.args(uses_table);
  device::VectorLaunch how;
  how.config = config;
  ASSERT_TRUE(device::packet_fits(args, how.stages, config.packet_bytes)) << spec.name();
  ASSERT_TRUE(device::is_plain(args, how)) << spec.name();
  const Observed observed = observe(args, config);
  EXPECT_GT(observed.prefetched.size(), 1u) << spec.name();
  EXPECT_TRUE(observed.prefetched == expected(observed.loaded, static_cast<uint32_t>(config.ahead)))
      << spec.name() << (uses_table ? "" : ", no table, ") << config.threads << " threads, "
      << config.heads << " heads";
}

TEST(Ahead, BlocksBringWhatLaterOnesLoad) {
  for (const int32_t op : {ROPE_OP_ROPE, ROPE_OP_NORM_SPLIT_ROPE, ROPE_OP_VARLEN_SPLIT_ROPE,
                           ROPE_OP_SPLIT_ROPE_BACKWARD}) {
    for (const ProblemSpec& spec : testing::sampled(specs_of(op), 5, 1)) {
      for (const int heads : {1, 2}) {
        for (const int threads : {32, 64}) {
          // In two chunks.
          const device::VectorConfig config = {16, threads, heads, true, 32, 2};
          expect_ahead(spec, false, config);
          if (op == ROPE_OP_VARLEN_SPLIT_ROPE) expect_ahead(spec, true, config);
        }
      }
    }
  }
}

TEST(Ahead, RowsOfNormsBringThoseOfLaterTokens) {
  for (ProblemSpec spec : specs_of(ROPE_OP_NORM_SPLIT_ROPE)) {
    spec.norm = ROPE_NORM_ROW;
    for (const bool uses_table : {true, false})
      expect_ahead(spec, uses_table, {16, 128, 2, true, 8192, 3});
  }
}

}  // namespace
}  // namespace rope_bench
