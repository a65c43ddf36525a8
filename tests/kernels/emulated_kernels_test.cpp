// Runs every CUDA variant's own source on the host layer, over all that changes its path.
#include <gtest/gtest.h>
#include <rope_host_cuda.h>

#include <optional>

#include "kernels/cuda/launchers.h"
#include "tests/kernels/config_variants.h"
#include "tests/kernels/problem_specs.h"

#ifdef __SANITIZE_ADDRESS__
// Room around every buffer, so that an access far behind its end does not land in the next one.
extern "C" const char* __asan_default_options() { return "redzone=1024"; }
#endif

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

std::vector<RopeVariant> variants_of(int32_t op) {
  std::vector<RopeVariant> all = variants();
  std::erase_if(all, [&](const RopeVariant& v) { return v.op != op; });
  return all;
}

// A variant must compute what it accepts, and accept all of this.
void expect_all_right(const RopeVariant& variant, const std::vector<ProblemSpec>& specs) {
  const testing::SpecRun run = testing::run_specs(variant, specs, launch);
  EXPECT_GT(run.computed, 0) << variant.name;
  for (const auto& [reason, count] : run.refused) {
    // The one mapping that has no place for it.
    if (std::string(variant.name) == "per_head" && reason.starts_with("a norm over all heads"))
      continue;
    ADD_FAILURE() << variant.name << " refuses " << count << " times: " << reason;
  }
}

// A test for each variant, so that they run side by side. The parameter is its row in the registry;
// under sanitizers it also says where its sample of a sweep begins, so that variants that share
// code do not share their sample.
class EmulatedVariant : public ::testing::TestWithParam<size_t> {
 protected:
  RopeVariant variant() const { return variants()[GetParam()]; }
  std::vector<ProblemSpec> sample(const std::vector<ProblemSpec>& specs, size_t stride) const {
    return testing::sampled(specs, stride, GetParam());
  }
};

std::string variant_label(const ::testing::TestParamInfo<size_t>& info) {
  static const char* const kOps[] = {"rope",   "split",    "norm_split",
                                     "varlen", "backward", "split_backward"};
  const RopeVariant row = variants()[info.param];
  return std::string(kOps[row.op]) + "_" + row.name;
}

std::vector<size_t> rows_of(int32_t op) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < variants().size(); ++i) {
    if (variants()[i].op == op) rows.push_back(i);
  }
  return rows;
}

using EmulatedOps = EmulatedVariant;
INSTANTIATE_TEST_SUITE_P(Variants, EmulatedOps, ::testing::Range(size_t{0}, variants().size()),
                         variant_label);
using EmulatedRope = EmulatedVariant;
INSTANTIATE_TEST_SUITE_P(Variants, EmulatedRope, ::testing::ValuesIn(rows_of(ROPE_OP_ROPE)),
                         variant_label);
using EmulatedVarlen = EmulatedVariant;
INSTANTIATE_TEST_SUITE_P(Variants, EmulatedVarlen,
                         ::testing::ValuesIn(rows_of(ROPE_OP_VARLEN_SPLIT_ROPE)), variant_label);

// Every feature of every op with every other: packed QKV, V, biases, norms, sequences, padding,
// batches, offsets.
TEST_P(EmulatedOps, EveryPairOfFeatures) {
  expect_all_right(variant(), sample(testing::op_specs(variant().op), 4));
}

TEST_P(EmulatedOps, WideBlocks) {
  expect_all_right(variant(), sample(testing::wide_specs(variant().op), 3));
}

TEST_P(EmulatedVarlen, ManySequences) {
  expect_all_right(variant(), sample(testing::many_sequences_specs(), 3));
}

// C024, C025, C027, C011: every even head dim, rotary widths that are no power of two, one pair,
// partial.
TEST_P(EmulatedRope, Dims) { expect_all_right(variant(), sample(testing::dims_specs(), 5)); }

// C031, C032, C035, C043: token counts around block edges, GQA ratios, gaps, misaligned bases,
// 64-bit positions.
TEST_P(EmulatedRope, Shapes) { expect_all_right(variant(), sample(testing::shapes_specs(), 7)); }

TEST_P(EmulatedRope, TableDtypes) {
  expect_all_right(variant(), sample(testing::table_dtype_specs(), 5));
}

// A gptj pair at an odd element cannot be one access: a variant computes it in narrower ones or
// says so.
TEST_P(EmulatedRope, OddBaseOfGptj) {
  ProblemSpec spec;
  spec.dtype = Dtype::kBF16;
  spec.pairing = Pairing::kGptj;
  spec.base_offset = 1;
  expect_all_right(variant(), {spec});
}

// A position times the turns of one position wraps around: no position is too far.
TEST(EmulatedKernels, FarPositionsWithoutATable) {
  for (const RopeVariant& variant : variants_of(ROPE_OP_ROPE)) {
    if (variant.uses_table || variant.precision != ROPE_PRECISION_FUSED) continue;
    const testing::SpecRun run = testing::run_specs(variant, testing::far_position_specs(), launch);
    EXPECT_GT(run.computed, 0);
    EXPECT_TRUE(run.refused.empty());
  }
}

// fast as it is launched for more heads than these problems have.
TEST(EmulatedKernels, NormOfManyHeads) {
  const RopeVariant fast = variants_of(ROPE_OP_NORM_SPLIT_ROPE)[0];
  ASSERT_STREQ(fast.name, "fast");
  for (const int heads : {1, 2}) {
    const auto launch_wide = [heads](Problem& problem, const RopeVariant&) -> std::string {
      const RopeKernelArgs args = problem.args();
      device::VectorConfig config = device::general_config(args, {true, true, true});
      config.heads = config.packet_bytes == 16 ? heads : 1;
      if (device::launch_fast_with(args, config) != 0) return "launch failed";
      return host_cuda::take_faults();
    };
    EXPECT_GT(
        testing::run_specs(fast, testing::op_specs(ROPE_OP_NORM_SPLIT_ROPE), launch_wide).computed,
        0);
  }
}

// How a launch is cut into packets and blocks follows the number of tokens: every way must be
// right, and must not show in a single bit, or a token would depend on those beside it.
template <bool kTable>
void expect_the_same_bits(int32_t op) {
  int compared = 0;
  for (const ProblemSpec& spec : testing::sampled(testing::plain_specs(op), 5, kTable ? 0 : 2)) {
    Problem problem(spec);
    const RopeKernelArgs args = problem.args(kTable);
    std::vector<std::byte> first;
    int number = 0;
    for (const RopeVariant& config : testing::config_variants<kTable>(op)) {
      ++number;
      if (config.why_not(&args, nullptr, 0) != 0) continue;
      problem.reset();
      ASSERT_EQ(config.launch(&args), 0);
      EXPECT_EQ(host_cuda::take_faults(), "");
      EXPECT_EQ(problem.check(config), "") << spec.name() << ": config " << number;
      // A norm over all heads has one config. The narrowest packets are for layouts that have no
      // others, whatever the number of tokens.
      if (args.norm == ROPE_NORM_ROW || number > 5) continue;
      const std::vector<std::byte> output = problem.output_bytes();
      if (first.empty()) {
        first = output;
      } else {
        ++compared;
        EXPECT_TRUE(first == output) << spec.name() << ": config " << number;
      }
    }
  }
  EXPECT_GT(compared, 20);
}
TEST(EmulatedKernels, TheSameBitsWhateverTheConfig) {
  for (const int32_t op : testing::kPlainOps) {
    expect_the_same_bits<true>(op);
    expect_the_same_bits<false>(op);
  }
}

// Whatever the number of tokens, and with it the config, on_the_fly forms a token's factors in the
// shared memory that there is.
TEST(EmulatedKernels, FactorsHaveRoom) {
  for (const int rotary_dim : {512, 1024, 1026, 2048}) {
    ProblemSpec spec;
    spec.dtype = Dtype::kBF16;
    spec.head_dim = spec.rotary_dim = rotary_dim;
    spec.num_tokens = 2;
    Problem problem(spec);
    const RopeKernelArgs args = problem.args(false);
    int computed = 0;
    for (const int threads : {64, 128, 256}) {
      for (const int heads : {1, 2}) {
        problem.reset();
        // Launched as they are, whatever else would be chosen.
        device::VectorConfig config = {16, threads, heads, true, 8};
        device::VectorLaunch how;
        how.stages = {false, false, true};
        how.config = config;
        if (!device::packet_fits(args, how.stages, 16)) continue;
        if (!device::is_plain(args, how)) continue;
        ASSERT_EQ(device::launch_fast_with(args, config), 0);
        EXPECT_EQ(host_cuda::take_faults(), "");
        EXPECT_EQ(problem.check(variants()[1]), "") << rotary_dim << ' ' << threads << ' ' << heads;
        ++computed;
      }
    }
    // 1026 is no multiple of a packet.
    EXPECT_EQ(computed > 0, rotary_dim != 1026);
  }
}

// The shape of Llama-3-8B.
ProblemSpec model_spec(int32_t op) {
  ProblemSpec spec;
  spec.op = op;
  spec.dtype = Dtype::kBF16;
  spec.heads = 32;
  spec.kv_heads = 8;
  spec.head_dim = spec.rotary_dim = 128;
  spec.packed = op != ROPE_OP_ROPE && op != ROPE_OP_ROPE_BACKWARD;
  return spec;
}

// What models have goes to the kernels that are made for it, whatever the number of tokens.
TEST(EmulatedKernels, ModelsArePlain) {
  for (const int32_t op : testing::kPlainOps) {
    for (const int32_t norm : {ROPE_NORM_NONE, ROPE_NORM_HEAD, ROPE_NORM_ROW}) {
      if ((norm != ROPE_NORM_NONE) != (op == ROPE_OP_NORM_SPLIT_ROPE)) continue;
      ProblemSpec spec = model_spec(op);
      spec.norm = norm;
      for (const bool in_place : {true, false}) {
        spec.in_place = in_place;
        Problem problem(spec);
        for (const bool uses_table : {true, false}) {
          RopeKernelArgs args = problem.args(uses_table);
          for (const int64_t tokens : {1, 64, 256, 1024, 4096, 65536}) {
            args.num_tokens = tokens;
            device::VectorLaunch how;
            how.stages = norm == ROPE_NORM_NONE ? device::Stages{false, false, true}
                                                : device::Stages{true, true, true};
            how.config = device::plain_config(args, how.stages);
            EXPECT_TRUE(device::is_plain(args, how))
                << spec.name() << (uses_table ? "" : ", no table, ") << tokens << " tokens";
          }
        }
      }
    }
  }
}

// Sequences of one token, without a table: the threads that form the factors of a token are those
// that have looked up its sequence, or each would look for it alone.
TEST(EmulatedKernels, DecodingFormsWhatItHasLookedUp) {
  ProblemSpec spec = model_spec(ROPE_OP_VARLEN_SPLIT_ROPE);
  spec.in_place = false;
  spec.position_source = ROPE_POSITIONS_CU_SEQLENS;
  spec.seq_lens = {1, 1, 1, 1, 1, 1, 1, 1};
  spec.num_tokens = 8;
  Problem problem(spec);
  RopeKernelArgs args = problem.args(false);
  // Threads 0 to 63 form the factors of a token, of 64 pairs: with packets of 16 bytes 8 kv heads
  // are as many threads.
  for (const int64_t tokens : {8, 15, 16, 64}) {
    args.num_tokens = tokens;
    const device::VectorConfig config = device::plain_config(args, {false, false, true});
    EXPECT_EQ(config.packet_bytes, tokens < 16 ? 16 : 8) << tokens;
  }
}

// A launch that turns nothing, as that of an op in several may be, copies without table and
// positions.
TEST(EmulatedKernels, WhatOnlyCopiesNeedsNoTable) {
  ProblemSpec spec;
  spec.op = ROPE_OP_SPLIT_ROPE;
  spec.packed = true;
  spec.in_place = false;
  Problem problem(spec);
  RopeKernelArgs args = problem.args();
  args.table = nullptr;
  args.positions = nullptr;
  device::VectorLaunch how;
  how.stages = {false, false, false};
  how.config = device::general_config(args, how.stages);
  ASSERT_TRUE(device::is_plain(args, how));
  EXPECT_EQ(device::launch_plain_table32(args, how), 0);
  EXPECT_EQ(host_cuda::take_faults(), "");
  EXPECT_EQ(problem.check_copied(), "");
}

// A table that only 64-bit positions reach the end of is no work for kernels that look at 32.
TEST(EmulatedKernels, LongTablesAreNotPlain) {
  Problem problem(ProblemSpec{});
  RopeKernelArgs args = problem.args();
  device::VectorLaunch how;
  how.stages = {false, false, true};
  how.config = device::general_config(args, how.stages);
  for (const int64_t rows : {int64_t{0xffffffff}, int64_t{0x100000000}}) {
    args.table_rows = rows;
    EXPECT_EQ(device::is_plain(args, how), rows <= 0xffffffff) << rows;
  }
}

// No heads anywhere, as one stage of an unfused op may have it: no launch, and no refusal.
TEST(EmulatedKernels, WithoutHeadsThereIsNothingToDo) {
  Problem problem(ProblemSpec{});
  for (const RopeVariant& variant : variants()) {
    if (variant.op != ROPE_OP_ROPE) continue;
    RopeKernelArgs args = problem.args(variant.uses_table != 0);
    args.q.num_heads = args.k.num_heads = 0;
    args.num_tokens = 100'000;
    EXPECT_EQ(variant.why_not(&args, nullptr, 0), 0) << variant.name;
    EXPECT_EQ(variant.launch(&args), 0) << variant.name;
    EXPECT_EQ(host_cuda::take_faults(), "") << variant.name;
  }
}

TEST(EmulatedKernels, MoreSequencesThanCanBeLookedUpAreRefused) {
  ProblemSpec spec;
  spec.op = ROPE_OP_VARLEN_SPLIT_ROPE;
  spec.in_place = false;
  spec.packed = true;
  spec.position_source = ROPE_POSITIONS_CU_SEQLENS;
  spec.seq_lens = {1, 2};
  Problem problem(spec);
  RopeKernelArgs args = problem.args();
  const RopeVariant fast = variants_of(ROPE_OP_VARLEN_SPLIT_ROPE)[0];
  EXPECT_EQ(fast.why_not(&args, nullptr, 0), 0);
  for (const int64_t count : {int64_t{-1}, (int64_t{1} << 29) + 1, int64_t{1} << 31}) {
    args.num_sequences = count;
    char reason[128] = "";
    EXPECT_NE(fast.why_not(&args, reason, sizeof(reason)), 0);
    EXPECT_EQ(std::string(reason), std::to_string(count) + " sequences: 0 to 536870912");
  }
}

// Every packet and block size that fast and on_the_fly can be given; chunks of fewer tokens than
// the problem has, and of more.
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
            for (const RopeVariant& variant : {variants()[0], variants()[1]}) {
              Problem problem(spec);
              const RopeKernelArgs args = problem.args(variant.uses_table != 0);
              if (!device::packet_fits(args, {false, false, true}, bytes)) continue;
              SCOPED_TRACE(std::string(variant.name) + ": " + spec.name() + " packet " +
                           std::to_string(bytes));
              const int heads = bytes == 16 && threads == 128 ? 2 : 1;
              ASSERT_EQ(device::launch_fast_with(
                            args, {bytes, threads, heads, prefetch, prefetch ? 2 : 64}),
                        0);
              EXPECT_EQ(host_cuda::take_faults(), "");
              EXPECT_EQ(problem.check(variant), "");
            }
          }
        }
      }
    }
  }
}

// The limit family moves the bytes of every op: in place data stays as it was; out of place it is
// copied, and no gap, guard band or padding row is touched. The members take turns.
class EmulatedLimits : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ops, EmulatedLimits,
                         ::testing::Range<int>(ROPE_OP_ROPE, ROPE_OP_SPLIT_ROPE_BACKWARD + 1));
TEST_P(EmulatedLimits, MoveEveryByte) {
  const std::vector<RopeVariant> all = limits();
  size_t next = 0;
  std::vector<ProblemSpec> specs = testing::op_specs(GetParam());
  for (const std::vector<ProblemSpec>& more : {testing::shapes_specs(), testing::dims_specs()})
    if (GetParam() == ROPE_OP_ROPE) specs.insert(specs.end(), more.begin(), more.end());
  for (const ProblemSpec& spec : testing::sampled(specs, 5, 0)) {
    if (spec.bias) continue;         // what is added to it changes v in place, the copy does not
    if (spec.skipped > 0) continue;  // limits take sequences to begin with the first token
    const RopeVariant& limit = all[next++ % all.size()];
    for (const bool uses_table : {true, false}) {
      if (uses_table && !spec.has_table) continue;
      SCOPED_TRACE(std::string(limit.name) + ": " + spec.name());
      Problem problem(spec);
      const RopeKernelArgs args = problem.args(uses_table);
      ASSERT_EQ(limit.launch(&args), 0);
      EXPECT_EQ(host_cuda::take_faults(), "");
      EXPECT_EQ(problem.check_copied(), "");
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
    if (!variant.uses_table) continue;
    char reason[256] = "";
    EXPECT_NE(variant.why_not(&args, reason, sizeof(reason)), 0);
    EXPECT_NE(std::string(reason).find("4 pairs"), std::string::npos) << reason;
    EXPECT_NE(std::string(reason).find("32 pairs"), std::string::npos) << reason;
  }
}

}  // namespace
}  // namespace rope_bench
