// How tight the bounds of ops with steps are: nearly reached by right kernels, and below what
// careless arithmetic loses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/math/op_problem.h"

namespace rope_bench {
namespace {

RopeCase norm_case(Dtype dtype, bool row = false) {
  RopeCase c;
  c.op = Op::kNormSplitRope;
  c.dtype = dtype;
  c.norm.given = true;
  c.norm.span_row = row;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 128;
  c.rope.rotary_dim = 96;
  c.tokens = 64;
  c.positions.offset = 900;
  c.layout.in_place = false;
  return c;
}

TEST(OpCheck, BoundsAreNearlyReached) {
  for (const bool row : {false, true}) {
    for (const bool after : {false, true}) {
      for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
        RopeCase c = norm_case(dtype, row);
        c.norm.after_rotation = after;
        OpProblem p(c);
        p.run();
        const Accuracy a = p.referenced();
        EXPECT_EQ(a.num_over, 0);
        // In float32 the worst of every step does not meet in one element.
        EXPECT_GT(a.max_bound_ratio, dtype == Dtype::kF32 ? 0.1 : 0.97);
        EXPECT_LT(a.tolerance_ulp, dtype == Dtype::kF32 ? 80 : 1.02);
      }
    }
  }
}

TEST(OpCheck, CarelessArithmeticFails) {
  for (const bool row : {false, true}) {
    for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
      for (const Mistake mistake : {Mistake::kStatisticsF16, Mistake::kStorageBetween,
                                    Mistake::kArithmeticStorage, Mistake::kWeightStorage}) {
        RopeCase c = norm_case(dtype, row);
        c.norm.weight_offset = 1;
        OpProblem p(c);
        p.run(mistake);
        EXPECT_GT(p.referenced().num_over, 0)
            << info(dtype).name << " mistake " << static_cast<int>(mistake);
      }
    }
  }
}

// What an unfused variant rounds in between passes under that label and under no other.
TEST(OpCheck, RoundingInBetweenIsPromised) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    for (const bool after : {false, true}) {
      RopeCase c = norm_case(dtype);
      c.norm.after_rotation = after;
      c.qkv_bias = true;
      OpProblem p(c, ROPE_PRECISION_UNFUSED);
      p.run();
      const Accuracy a = p.referenced();
      EXPECT_EQ(a.num_over, 0);
      EXPECT_GT(a.max_bound_ratio, 0.3);
      EXPECT_LE(a.max_ulp, a.tolerance_ulp);
      p.variant.precision = ROPE_PRECISION_FUSED;
      EXPECT_GT(p.referenced().num_over, 100);
      p.c.norm.round_between = true;  // this one rounding alone does not excuse that of the bias
      EXPECT_GT(p.referenced().num_over, 0);
    }
  }
}

TEST(OpCheck, TableOfAnotherDtypeFails) {
  for (const bool after : {false, true}) {
    RopeCase c = norm_case(Dtype::kBF16);
    c.norm.after_rotation = after;
    c.rope.table.dtype = Dtype::kBF16;
    OpProblem p(c);
    p.run();
    EXPECT_EQ(p.referenced().num_over, 0);
    p.table = build_table(frequencies_of(c), TableAngle::kExact, p.table.rows, 1);
    EXPECT_GT(p.referenced().num_over, 100);
  }
}

// float32 angles: right where that is promised, and wrong where exact ones are.
TEST(OpCheck, FastMathHasItsOwnBound) {
  const auto over = [](int64_t first, int32_t precision, double hardware, float detune) {
    RopeCase c = norm_case(Dtype::kF32);
    c.op = Op::kSplitRope;
    c.norm = {};
    c.positions.offset = first;
    OpProblem p(c);
    p.variant.uses_table = 0;
    p.variant.precision = precision;
    p.table = fast_math_table(p.table, hardware, detune);
    p.run();
    return p.referenced().num_over;
  };
  constexpr int64_t kFar = 131072 - 64;
  for (const int64_t first : {int64_t{0}, int64_t{900}, kFar})
    EXPECT_EQ(over(first, ROPE_PRECISION_FAST_MATH, 0x1p-22, 1), 0) << first;
  EXPECT_GT(over(kFar, ROPE_PRECISION_FUSED, 0x1p-22, 1), 10000);
  EXPECT_GT(over(kFar, ROPE_PRECISION_FAST_MATH, 0, 1 + 0x1p-19f), 1000);  // a frequency of 19 bits
  EXPECT_GT(over(900, ROPE_PRECISION_FAST_MATH, 0, 1 + 0x1p-19f), 1000);
  EXPECT_GT(over(0, ROPE_PRECISION_FAST_MATH, 0x1p-19, 1), 1000);  // coarse cos and sin
}

// Positions and output rows come from the case: a launch with other operands is seen.
TEST(OpCheck, OperandsOfTheLaunchAreNotBelieved) {
  RopeCase c = norm_case(Dtype::kBF16);
  c.op = Op::kVarlenSplitRope;
  c.norm = {};
  c.varlen.given = c.varlen.padded_output = true;
  c.seq_lens = {7, 0, 1, 12};
  OpProblem p(c);
  EXPECT_EQ(p.rows.out_rows[7], 2 * 12);
  EXPECT_EQ(p.rows.out_rows[8], 3 * 12);
  EXPECT_EQ(p.rows.table_rows[7], 900);
  p.run();
  EXPECT_EQ(p.referenced().num_over, 0);
  std::vector<int32_t> wrong(20, 0);
  p.launch.out_rows = wrong.data();
  p.launch.positions = wrong.data();
  p.launch.position_bits = 32;
  EXPECT_EQ(p.referenced().num_over, 0);
  p.run(Mistake::kPackedOutput);
  EXPECT_GT(p.referenced().num_over, 0);
}

// Batches of [B, H, S, d], and heads of an operand that is wider than head_dim.
TEST(OpCheck, BatchesAreAddressed) {
  RopeCase c = norm_case(Dtype::kF32);
  c.op = Op::kRope;
  c.norm = {};
  c.batch = 2;
  c.tokens = 3;
  OpProblem p(c);
  p.run();
  ASSERT_EQ(p.referenced().num_over, 0);
  // The same numbers, stored by batch, head and token on both sides.
  for (int operand = 0; operand < 2; ++operand) {
    RopeTensor& t = operand == 0 ? p.launch.q : p.launch.k;
    const int64_t heads = t.num_heads;
    for (auto* side : {&p.in[operand], &p.out[operand]}) {
      const std::vector<std::byte> from = *side;
      for (int64_t i = 0; i < 6 * heads; ++i) {
        const int64_t token = i / heads, head = i % heads;
        const int64_t to = (token / 3 * heads + head) * 3 + token % 3;
        std::copy_n(&from[static_cast<size_t>(i) * 512], 512,
                    &(*side)[static_cast<size_t>(to) * 512]);
      }
    }
    t.in_batch_stride = t.out_batch_stride = heads * 3 * 128;
    t.in_token_stride = t.out_token_stride = 128;
    t.in_head_stride = t.out_head_stride = 3 * 128;
  }
  p.launch.in_batch_tokens = p.launch.out_batch_tokens = 3;
  EXPECT_EQ(p.referenced().num_over, 0);
  p.launch.out_batch_tokens = 0;
  EXPECT_GT(p.referenced().num_over, 0);
}

}  // namespace
}  // namespace rope_bench
