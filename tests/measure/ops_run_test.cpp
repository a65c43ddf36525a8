// Every op through the runner on the CPU: right kernels pass, checked and timed, in every layout.
#include "tests/measure/op_cases.h"

namespace rope_bench {
namespace {

constexpr Op kOps[] = {Op::kRope,          Op::kSplitRope,
                       Op::kNormSplitRope, Op::kVarlenSplitRope,
                       Op::kRopeBackward,  Op::kSplitRopeBackward};

void expect_passes(const RopeCase& c, const std::string& what) {
  const Result r = run_one(c, right_launch);
  EXPECT_EQ(r.status, Status::kPassed) << c.name << " " << what << ": " << r.reason;
}

TEST(OpsRun, RightKernelsPassAndAreTimed) {
  for (const Op op : kOps) {
    for (const bool in_place : {true, false}) {
      RopeCase c = op_case(op);
      c.layout.in_place = in_place;
      const Result r = run_one(c, right_launch, true);
      EXPECT_EQ(r.status, Status::kPassed) << c.name << ": " << r.reason;
      ASSERT_TRUE(r.timing) << c.name;
      EXPECT_GT(r.timing->limit_us.value_or(0), 0) << c.name;
      EXPECT_EQ(r.bytes.total(), bytes_of(c).total());
    }
  }
}

TEST(OpsRun, EveryLayoutPasses) {
  for (const Op op : kOps) {
    RopeCase heads = op_case(op);
    heads.layout.in_place = false;
    heads.layout.heads_tokens_dim = true;
    heads.batch = 3;  // C031, C032
    expect_passes(heads, "heads_tokens_dim");
    RopeCase slice = op_case(op);
    slice.layout.q.rotary_offset = 32;  // C015
    slice.layout.k.rotary_offset = 16;
    expect_passes(slice, "rotary_offset");
    RopeCase apart = op_case(op);
    apart.layout.q.token_stride = 8 * 64 + 24;
    expect_passes(apart, "token_stride");
    RopeCase axes = op_case(op);
    axes.rope.axes = {"mrope", {8, 4, 4}};
    axes.positions.kind = PositionKind::kRandom;
    axes.varlen.source = "position_ids";
    expect_passes(axes, "axes");
  }
  RopeCase mla = op_case(Op::kRopeBackward);  // C029
  mla.layout.q = {4 * 96 + 8, 96, 64};
  expect_passes(mla, "behind head_dim");
}

TEST(OpsRun, EveryKindOfNormPasses) {
  for (int i = 0; i < 32; ++i) {
    RopeCase c = op_case(Op::kNormSplitRope);
    c.norm.weight = (i & 1) == 0;
    c.norm.weight_offset = c.norm.weight && (i & 2) != 0 ? 1 : 0;
    c.norm.span_row = (i & 4) != 0;
    c.norm.after_rotation = (i & 8) != 0;
    c.norm.round_between = (i & 16) != 0;
    c.qkv_bias = i % 3 == 0;
    expect_passes(c, std::to_string(i));
  }
}

TEST(OpsRun, EverySourceOfPositionsPasses) {  // C049, C124, C126
  for (const char* source : {"cu_seqlens", "padding_offset", "position_ids"}) {
    for (const bool padded : {false, true}) {
      for (const PositionKind kind : {PositionKind::kSequential, PositionKind::kDecode}) {
        RopeCase c = sequences();
        c.varlen.source = source;
        c.varlen.padded_output = padded;
        c.layout.heads_tokens_dim = padded;
        if (padded) c.varlen.max_seqlen = 7;
        c.positions.kind = kind;
        expect_passes(c, std::string(source) + (padded ? " padded" : ""));
      }
    }
  }
  RopeCase listed = sequences();
  listed.varlen.source = "position_ids";
  listed.positions.kind = PositionKind::kExplicit;
  listed.positions.list = {9, -1, 7, 7, 8, -1, 2, 0};
  expect_passes(listed, "padding in between");
}

TEST(OpsRun, NoSequenceHasATokenNothingIsLaunched) {
  for (const int64_t tokens : {0, 4}) {
    RopeCase c = sequences();
    c.seq_lens = {0, 0};
    c.tokens = tokens;
    const Result r = run_one(
        c, [](const RopeKernelArgs*) { return 1; }, true);
    EXPECT_EQ(r.status, Status::kPassed) << r.reason;
    EXPECT_FALSE(r.timing);
  }
}

// Looked at they are right, timed they are not: the device's judge sees each operand.
TEST(OpsRun, TimedLaunchesOfEveryOpAreJudged) {
  static int launches;
  for (const Op op : kOps) {
    launches = 0;
    const Result r = run_one(
        op_case(op),
        [](const RopeKernelArgs* args) {
          right_launch(args);
          const RopeTensor& last = args->v.num_heads > 0 ? args->v : args->k;
          if (launches++ >= 2) out16(last)[1] = 0x7fc0;
          return 0;
        },
        true);
    EXPECT_EQ(r.status, Status::kFailed) << name(op);
    EXPECT_NE(r.reason.find("timed launches are wrong"), std::string::npos) << r.reason;
  }
}

}  // namespace
}  // namespace rope_bench
