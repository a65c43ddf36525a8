// Known faults of fused ops, with the numbers that their descriptions give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/math/op_problem.h"

namespace rope_bench {
namespace {

using Values = std::vector<double>;

RopeCase known(Op op, Dtype dtype, int64_t heads, int64_t kv_heads, int64_t head_dim) {
  RopeCase c;
  c.op = op;
  c.dtype = dtype;
  c.num_heads = heads;
  c.num_kv_heads = kv_heads;
  c.head_dim = c.rope.rotary_dim = head_dim;
  c.tokens = 1;
  c.layout.in_place = false;
  if (op == Op::kNormSplitRope) c.norm.given = true;
  return c;
}

void set(Dtype dtype, std::vector<std::byte>* data, const Values& values) {
  for (size_t i = 0; i < values.size(); ++i)
    store_rounded(dtype, data->data(), static_cast<int64_t>(i), values[i]);
}
Values got(const OpProblem& p, int operand) {
  const std::vector<std::byte>& data = p.out[operand];
  Values values(data.size() / info(p.c.dtype).size);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = load_as_double(p.c.dtype, data.data(), static_cast<int64_t>(i));
  return values;
}
void expect_near(const Values& values, const Values& want, double tolerance) {
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}
// Elements of q that fail when it came out as `values`.
int64_t over(OpProblem p, const Values& values) {
  set(p.c.dtype, &p.out[0], values);
  return p.referenced().num_over;
}

TEST(Known, C041_BiasAtItsOwnPlace) {
  RopeCase c = known(Op::kSplitRope, Dtype::kF32, 2, 1, 4);
  c.qkv_bias = true;
  c.batch = 2;
  c.tokens = 2;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.list = {0, 0};
  OpProblem p(c);
  for (int i = 0; i < 64; ++i)
    store_rounded(c.dtype, p.in[0].data(), i,
                  1000 * (i / 32) + 100 * (i / 16 % 2) + 10 * (i / 4 % 4) + i % 4);
  set(c.dtype, &p.bias, Values(16, 0.5));
  p.run();
  EXPECT_EQ(p.referenced().num_over, 0);
  EXPECT_EQ(got(p, 2)[15], 1133.5);
  EXPECT_EQ(got(p, 0)[1 * 8 + 4 + 2], 112.5);  // b 0, t 1, head 1, d 2
  // [T, B] taken for [B, T].
  OpProblem transposed = p;
  std::swap_ranges(&transposed.out[2][1 * 16], &transposed.out[2][2 * 16],
                   &transposed.out[2][2 * 16]);
  EXPECT_EQ(transposed.referenced().num_over, 8);
  // A bias that only the first row gets.
  p.run(Mistake::kNoBias);
  EXPECT_EQ(p.referenced().num_over, 64);
}

TEST(Known, C106_SquaresBeyondF16) {
  for (const double x : {300.0, 7700.0, 60000.0}) {
    const RopeCase c = known(Op::kNormSplitRope, Dtype::kF16, 1, 1, 64);
    OpProblem p(c, ROPE_PRECISION_FUSED, false);
    set(c.dtype, &p.in[0], Values(192, x));
    p.run();
    EXPECT_EQ(got(p, 0), Values(64, 1.0));
    EXPECT_EQ(p.referenced().num_over, 0);
    EXPECT_EQ(over(p, Values(64, 0.0)), 64);  // 1 / infinity
    EXPECT_EQ(over(p, Values(64, std::nan(""))), 64);
    EXPECT_EQ(over(p, Values(64, 1.0 + 0x1p-10)), 64);
  }
}

TEST(Known, C108_ZerosStayZero) {
  for (const double eps : {1e-6, 1.2e-38}) {
    for (const bool row : {false, true}) {
      RopeCase c = known(Op::kNormSplitRope, Dtype::kBF16, 2, 1, 8);
      c.norm.eps = eps;
      c.norm.span_row = row;
      OpProblem p(c);
      set(c.dtype, &p.in[0], Values(32, 0.0));
      p.run();
      EXPECT_EQ(got(p, 0), Values(16, 0.0));
      EXPECT_EQ(p.referenced().num_over, 0);
      EXPECT_EQ(over(p, Values(16, std::nan(""))), 16);  // 0 * infinity, without eps
    }
  }
}

TEST(Known, C109_OnePlusWeight) {
  const auto problem = [](Dtype dtype, const Values& x) {
    RopeCase c = known(Op::kNormSplitRope, dtype, 1, 1, 4);
    c.norm.weight_offset = 1;
    OpProblem p(c);
    Values row = x;
    row.insert(row.end(), {1, 1, 1, 1, 1, 1, 1, 1});
    set(dtype, &p.in[0], row);
    for (std::vector<std::byte>* w : {&p.q_weight, &p.k_weight})
      set(dtype, w, Values(4, 0.050048828125));
    p.run();
    EXPECT_EQ(p.referenced().num_over, 0);
    return p;
  };
  const OpProblem f32 = problem(Dtype::kF32, {1, 1, 1, 1});
  expect_near(got(f32, 0), Values(4, 1.0500483031), 2e-7);
  EXPECT_EQ(over(f32, Values(4, 1.0468744766)), 4);
  EXPECT_EQ(over(f32, Values(4, 0.0500488031)), 4);
  const OpProblem bf16 = problem(Dtype::kBF16, {5, 3, 3, 1});
  EXPECT_EQ(got(bf16, 0), Values({1.5859375, 0.94921875, 0.94921875, 0.31640625}));
  // 1 + w formed in bf16 is 1.15 ULP off in the first three.
  EXPECT_EQ(over(bf16, {1.578125, 0.9453125, 0.9453125, 0.31640625}), 3);
  EXPECT_EQ(over(bf16, {0.07568359375, 0.045166015625, 0.045166015625, 0.01507568359375}), 4);
  EXPECT_LT(bf16.referenced().tolerance_ulp, 1.15);
}

TEST(Known, C111_HeadOrWholeRow) {
  const Values per_row = {1.176696811, 1.568929081, 0.3922322703, 0.0};
  const Values per_head = {0.8485281374, 1.13137085, 1.414213562, 0.0};
  for (const bool row : {true, false}) {
    RopeCase c = known(Op::kNormSplitRope, Dtype::kF32, 2, 1, 2);
    c.norm.eps = 1e-12;
    c.norm.span_row = row;
    OpProblem p(c, ROPE_PRECISION_FUSED, false);
    set(c.dtype, &p.in[0], {3, 4, 1, 0, 1, 1, 1, 1});
    p.run();
    EXPECT_EQ(p.referenced().num_over, 0);
    expect_near(got(p, 0), row ? per_row : per_head, 3e-7);
    EXPECT_EQ(over(p, row ? per_head : per_row), 3);
  }
}

TEST(Known, C113_SquaresBeyondF32) {
  for (const double x : {1e25, 1e18, 2e18}) {
    const RopeCase c = known(Op::kNormSplitRope, Dtype::kBF16, 1, 1, 128);
    OpProblem p(c, ROPE_PRECISION_FUSED, false);
    set(c.dtype, &p.in[0], Values(384, x));
    p.run();
    EXPECT_EQ(got(p, 0), Values(128, 1.0));
    EXPECT_EQ(p.referenced().num_over, 0);
    EXPECT_EQ(over(p, Values(128, 0.0)), 128);  // x / infinity
  }
}

TEST(Known, C116_WeightsAndValueUntouched) {
  RopeCase c = known(Op::kNormSplitRope, Dtype::kF32, 1, 1, 128);
  OpProblem p(c);
  set(c.dtype, &p.q_weight, Values(128, 2.0));
  set(c.dtype, &p.k_weight, Values(128, 3.0));
  p.run();
  EXPECT_EQ(p.referenced().num_over, 0);
  double sum = 0;
  for (int i = 0; i < 128; ++i) sum += std::pow(load_as_double(c.dtype, p.in[0].data(), i), 2);
  const double scale = 2 / std::sqrt(sum / 128 + 1e-6);
  for (const int i : {0, 77, 127})
    EXPECT_NEAR(got(p, 0)[i], scale * load_as_double(c.dtype, p.in[0].data(), i), 1e-6);
  EXPECT_EQ(got(p, 2)[5], load_as_double(c.dtype, p.in[0].data(), 256 + 5));
  p.run(Mistake::kSwappedWeights);
  EXPECT_EQ(p.referenced().num_over, 256);
  p.run(Mistake::kNormedValue);
  EXPECT_EQ(p.referenced().num_over, 128);
  EXPECT_EQ(p.referenced().worst->tensor, "v");
}

TEST(Known, C118_BackwardOfForward) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    for (const Pairing pairing : {Pairing::kNeox, Pairing::kGptj}) {
      for (const bool packed : {false, true}) {
        RopeCase c = known(packed ? Op::kSplitRope : Op::kRope, dtype, 2, 2, 8);
        c.rope.pairing = pairing;
        c.tokens = 3;
        OpProblem forward(c);
        forward.run();
        c.op = packed ? Op::kSplitRopeBackward : Op::kRopeBackward;
        OpProblem backward(c);
        for (int i = 0; i < 3; ++i) backward.in[i] = forward.out[i];
        backward.run();
        EXPECT_EQ(backward.referenced().num_over, 0);
        const double tolerance = 16 * ulp(dtype, 1.0);
        for (const int64_t token : {0, 2}) {
          for (const int64_t dim : {0, 5}) {
            EXPECT_NEAR(
                load_as_double(dtype, backward.out_of(1).data(),
                               backward.out_index(1, token, 1, dim)),
                load_as_double(dtype, forward.in_of(1).data(), forward.in_index(1, token, 1, dim)),
                tolerance);
          }
        }
        backward.run(Mistake::kForward);
        EXPECT_GT(backward.referenced().num_over, 0);
      }
    }
  }
}

TEST(Known, C121_GradientIsNoInverse) {
  RopeCase c = known(Op::kRopeBackward, Dtype::kF32, 1, 1, 2);
  c.positions.offset = 1;
  OpProblem p(c);
  Frequencies f = frequencies_of(c);
  f.attention_factor = 1.3465735902799727;
  p.table = build_table(f, TableAngle::kExact, 3, 1);
  set(c.dtype, &p.in[0], {1, 0});
  p.run();
  expect_near(got(p, 0), {0.72755681584941, -1.1331026051292}, 2e-7);
  EXPECT_EQ(p.referenced().num_over, 0);
  EXPECT_EQ(over(p, {0.40124231588101, -0.6248978822115}), 2);
  EXPECT_EQ(over(p, {0.72755681584941, 1.1331026051292}), 1);
}

TEST(Known, C129_NanStaysInItsRow) {
  const double inf = std::numeric_limits<double>::infinity();
  RopeCase c = known(Op::kRope, Dtype::kF16, 1, 1, 64);
  c.rope.rotary_dim = 32;
  c.tokens = 4;
  OpProblem p(c);
  for (int64_t i = 128; i < 256; ++i) {
    for (int operand = 0; operand < 2; ++operand)
      store_rounded(c.dtype, p.in[operand].data(), i, i < 192 ? std::nan("") : inf);
  }
  p.run();
  EXPECT_EQ(p.referenced().num_over, 0);
  EXPECT_TRUE(std::isnan(got(p, 0)[128 + 7]));
  EXPECT_EQ(got(p, 0)[192 + 40], inf);
  const auto with = [&](int64_t i, double value) {
    Values values = got(p, 0);
    values[static_cast<size_t>(i)] = value;
    return over(p, values);
  };
  EXPECT_EQ(with(3, std::nan("")), 1);         // a neighbour
  EXPECT_EQ(with(128 + 7, 1.0), 1);            // no NaN where one belongs
  EXPECT_EQ(with(192 + 40, std::nan("")), 1);  // passed through otherwise
  EXPECT_EQ(with(192 + 3, 1.0), 1);
}

TEST(Known, C190_EpsCounts) {
  const RopeCase c = known(Op::kNormSplitRope, Dtype::kF32, 1, 1, 4);
  OpProblem p(c, ROPE_PRECISION_FUSED, false);
  set(c.dtype, &p.in[0], {0.001, 0.002, -0.001, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  p.run();
  EXPECT_EQ(p.referenced().num_over, 0);
  expect_near(got(p, 0), {0.632455532, 1.264911064, -0.632455532, 0}, 3e-7);
  p.run(Mistake::kNoEps);
  expect_near(got(p, 0), {0.8164965809, 1.632993162, -0.8164965809, 0}, 3e-7);
  EXPECT_GE(p.referenced().num_over, 3);
  EXPECT_EQ(over(p, {0.2948839123, 0.5897678246, -0.2948839123, 0}), 3);  // eps 1e-5
}

}  // namespace
}  // namespace rope_bench
