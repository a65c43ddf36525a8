// Inputs that broke other RoPE software (sections A, B, E, F of the collection): the right numbers,
// computed independently at 60 digits, at the level of reference, table and comparison.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/math/tolerance.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                 double relative = 1e-9) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], relative * std::max(1.0, std::abs(want[i]))) << "element " << i;
  }
}

TEST(Cases, C001_PairingsDiffer) {
  expect_near(rotated(make_case(4, 10000, Dtype::kF32, Pairing::kGptj), 1, {1, 2, 3, 4}),
              {-1.142639664, 1.922075597, 2.959850668, 4.029799502});
  expect_near(rotated(make_case(4), 1, {1, 2, 3, 4}),
              {-1.984110649, 1.959900667, 2.462377902, 4.019799668});
}

// An output of one head row, checked as a float32 result of position 1.
int64_t over(const RopeCase& c, const std::vector<float>& in, const std::vector<float>& out) {
  const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 16, 1);
  const HostTensor a{in.data(), c.head_dim, c.head_dim}, b{out.data(), c.head_dim, c.head_dim};
  return check_rope(c, true, table, {1}, {a, a, b, b}, 1).num_over;
}

TEST(Cases, C001_TheOtherPairingFails) {
  const RopeCase gptj = make_case(4, 10000, Dtype::kF32, Pairing::kGptj);
  const std::vector<float> in = {1, 2, 3, 4};
  EXPECT_EQ(over(gptj, in, {-1.142639664f, 1.922075597f, 2.959850668f, 4.029799502f}), 0);
  EXPECT_EQ(over(gptj, in, {-1.984110649f, 1.959900667f, 2.462377902f, 4.019799668f}), 8);
}

TEST(Cases, C003_TwiceRotatedFails) {
  const RopeCase c = make_case(4);
  const std::vector<float> in = {1, 2, 3, 4};
  EXPECT_EQ(over(c, in, {-1.984110649f, 1.959900667f, 2.462377902f, 4.019799668f}), 0);
  EXPECT_EQ(over(c, in, {-3.144039117f, 1.919605347f, -0.3391430828f, 4.03919736f}), 8);
  expect_near(rotated(c, 1, rotated(c, 1, {1, 2, 3, 4})),
              {-3.144039117, 1.919605347, -0.3391430828, 4.03919736});
}

// A kernel that rotates head 0 only: the report names the first bad row of the worst element.
TEST(Cases, C007_HeadsLeftOut) {
  RopeCase c = make_case(8);
  c.num_heads = c.num_kv_heads = 8;
  c.tokens = 3;
  c.data = DataKind::kConstant;
  Buffers b(c);
  for (int64_t row = 0; row < 24; ++row) {  // every head holds the same row
    std::copy_n(b.q_in.begin(), 32, b.q_in.begin() + row * 32);
    std::copy_n(b.q_in.begin(), 32, b.k_in.begin() + row * 32);
  }
  b.k_out = b.k_in;
  b.q_out = b.q_in;
  const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 4, 1);
  FakeKernel(c, table, Contraction::kNone, Fault::kNone).run({1, 2, 3}, &b);
  ASSERT_EQ(check_rope(c, true, table, {1, 2, 3}, b.tensors(c), 2).num_over, 0);
  const float nan = std::nanf("");
  for (int64_t row = 0; row < 24; ++row) {
    EXPECT_EQ(0, std::memcmp(&b.q_out[row * 32], &b.q_out[row / 8 * 256], 32));
    if (row % 8 == 0) continue;
    for (int64_t j = 0; j < 8; ++j) store_rounded(c.dtype, b.q_out.data(), row * 8 + j, nan);
  }
  const Accuracy a = check_rope(c, true, table, {1, 2, 3}, b.tensors(c), 2);
  EXPECT_EQ(a.num_over, 21 * 8);
  EXPECT_EQ(a.worst->tensor, "q");
  EXPECT_EQ(a.worst->token, 0);
  EXPECT_EQ(a.worst->head, 1);
  EXPECT_EQ(a.worst->dim, 0);
}

TEST(Cases, C011_PassThroughKeepsPayloads) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    RopeCase c = make_case(128, 10000, dtype, Pairing::kGptj);
    c.rope.rotary_dim = 64;
    c.num_heads = 32;
    c.num_kv_heads = 2;
    c.tokens = 7;
    c.data = DataKind::kSpecial;
    Buffers b(c);
    const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 8, 1);
    const auto positions = sequential(0, 7);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run(positions, &b);
    EXPECT_EQ(check_rope(c, true, table, positions, b.tensors(c), 2).num_over, 0);
    FakeKernel(c, table, Contraction::kNone, Fault::kWholeHead).run(positions, &b);
    EXPECT_GT(check_rope(c, true, table, positions, b.tensors(c), 2).num_over, 7 * 34 * 32);
  }
}

TEST(Cases, C012_PartialIsNotProportional) {
  RopeCase c = make_case(8, 1e6);
  c.rope.rotary_dim = 2;
  expect_near(rotated(c, 5, {1, 2, 3, 4, 5, 6, 7, 8}),
              {2.201510735, -0.3915999037, 3, 4, 5, 6, 7, 8});
}

// The rotated slice may begin anywhere in the head; dims outside it, and the next head, keep their
// bits whichever of them a kernel wrote.
TEST(Cases, C015_OffsetSlices) {
  for (const int64_t offset : {0, 16}) {
    RopeCase c = make_case(64, 10000, Dtype::kF32, Pairing::kGptj);
    c.rope.rotary_dim = 48;
    c.num_heads = c.num_kv_heads = 3;
    c.tokens = 2;
    c.layout.q.rotary_offset = c.layout.k.rotary_offset = offset;
    Buffers b(c);
    const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 8, 1);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run({3, 4}, &b);
    EXPECT_EQ(check_rope(c, true, table, {3, 4}, b.tensors(c), 1).num_over, 0);
    // The padded columns 48..63 of the slice, rotated too: 16 dims run into the next head.
    std::vector<uint8_t> damaged = b.q_out;
    for (int64_t j = 48; j < 64; ++j) {
      store_rounded(c.dtype, damaged.data(), (offset + j) % 384, 0.0);
    }
    b.q_out = damaged;
    const Accuracy a = check_rope(c, true, table, {3, 4}, b.tensors(c), 1);
    EXPECT_EQ(a.num_over, 16);
  }
}

TEST(Cases, C025_WidthsThatAreNoPowerOfTwo) {
  for (const int64_t rotary_dim : {96, 48}) {
    RopeCase c = make_case(128, 10000, Dtype::kBF16);
    c.rope.rotary_dim = rotary_dim;
    c.tokens = 33;
    Buffers b(c);
    const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 133, 1);
    const auto positions = sequential(100, 33);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run(positions, &b);
    EXPECT_EQ(check_rope(c, true, table, positions, b.tensors(c), 1).num_over, 0);
    // Element r/2 pairs with element 0: a unit vector along 0 moves there by the sine.
    std::vector<double> x(128);
    x[0] = 1;
    const std::vector<double> y = rotated(c, 100, x);
    EXPECT_NEAR(y[rotary_dim / 2], std::sin(100.0), 1e-15);
    EXPECT_NEAR(y[0], std::cos(100.0), 1e-15);
    // Partners by exclusive or with 64 or 32 instead.
    RopeCase padded = c;
    padded.rope.rotary_dim = rotary_dim == 96 ? 128 : 64;
    FakeKernel(padded, build_table(frequencies_of(padded), TableAngle::kExact, 133, 1),
               Contraction::kNone, Fault::kNone)
        .run(positions, &b);
    EXPECT_GT(check_rope(c, true, table, positions, b.tensors(c), 1).num_over, 1000);
  }
}

TEST(Cases, C027_OnePair) {
  RopeCase c = make_case(64);
  c.rope.rotary_dim = 2;
  std::vector<double> x(64);
  for (int i = 0; i < 64; ++i) x[i] = i + 1;
  std::vector<double> want = x;
  want[0] = std::cos(3.0) - 2 * std::sin(3.0);
  want[1] = 2 * std::cos(3.0) + std::sin(3.0);
  expect_near(rotated(c, 3, x), want, 1e-15);
}

// C033: the same bytes under the other layout differ by whole position steps.
TEST(Cases, C033_HeadsTakenForTokens) {
  RopeCase c = make_case(8);
  c.num_heads = c.num_kv_heads = 4;
  Buffers b(c);
  const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 16, 1);
  FakeKernel(c, table, Contraction::kNone, Fault::kNone).run({9}, &b);
  EXPECT_EQ(check_rope(c, true, table, {9}, b.tensors(c), 1).num_over, 0);
  RopeCase swapped = c;
  swapped.num_heads = swapped.num_kv_heads = 1;
  swapped.tokens = 4;
  FakeKernel(swapped, table, Contraction::kNone, Fault::kNone).run({9, 10, 11, 12}, &b);
  const Accuracy a = check_rope(c, true, table, {9}, b.tensors(c), 1);
  EXPECT_GT(a.num_over, 0);
  EXPECT_NE(a.worst->head, 0);  // head 0 is at position 9 in both
}

TEST(Cases, C055_BeyondAHardCodedTable) {
  const RopeCase c = make_case(128, 1e6);
  const Row exact = row_of(c, TableAngle::kExact, 4096);
  EXPECT_NEAR(exact.cosines[1], -0.467551178199, 1e-12);
  EXPECT_NEAR(exact.sines[1], 0.883966003738, 1e-12);
  const Row float32 = row_of(c, TableAngle::kFloat32, 4096);
  EXPECT_EQ(frequencies_of(c).float32[1], 0.8058422207832336f);
  EXPECT_NEAR(float32.cosines[1], -0.467670736596, 1e-12);
  EXPECT_NEAR(float32.sines[1], 0.883902756038, 1e-12);
}

TEST(Cases, C056_PositionsReadAtTheWrongWidth) {
  RopeCase c = make_case(8);
  c.tokens = 4;
  Buffers b(c);
  const CosSinTable table = build_table(frequencies_of(c), TableAngle::kExact, 9, 1);
  FakeKernel(c, table, Contraction::kNone, Fault::kNone).run({5, 0, 6, 0}, &b);
  const Accuracy a = check_rope(c, true, table, {5, 6, 7, 8}, b.tensors(c), 1);
  EXPECT_GE(a.num_over, 3 * 8);  // token 0 alone is right
}

TEST(Cases, C061_PositionsBeyondFloat32) {
  const RopeCase c = make_case(2);
  expect_near(rotated(c, 16777217, {1, 0}), {0.994383963914, 0.105832567348}, 1e-12);
  const Row float32 = row_of(c, TableAngle::kFloat32, 16777217);
  EXPECT_NEAR(float32.cosines[0], 0.626322983292, 1e-12);
  EXPECT_NEAR(float32.sines[0], -0.779563673218, 1e-12);
}

TEST(Cases, C062_C065_Bf16TablesKeepPositionsApart) {
  const RopeCase c = make_case(128);
  const auto rows_differ = [&](int64_t a, int64_t b, Dtype dtype) {
    const Row x = row_of(c, TableAngle::kExact, a), y = row_of(c, TableAngle::kExact, b);
    return round_to(dtype, x.cosines[0]) != round_to(dtype, y.cosines[0]) ||
           round_to(dtype, x.sines[0]) != round_to(dtype, y.sines[0]);
  };
  for (const Dtype dtype : {Dtype::kBF16, Dtype::kF32}) {
    EXPECT_TRUE(rows_differ(256, 257, dtype));
    EXPECT_TRUE(rows_differ(65536, 65792, dtype));
    const int64_t starts[] = {65536, 65537, 65791, 65793};
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < i; ++j) EXPECT_TRUE(rows_differ(starts[i], starts[j], dtype));
    }
  }
}

TEST(Cases, C064_FrequenciesInBf16) {
  const RopeCase c = make_case(128);
  const Frequencies f = frequencies_of(c);
  EXPECT_NEAR(static_cast<double>(f.exact[1]), 0.86596432336006535, 1e-16);
  EXPECT_NEAR(row_of(f, TableAngle::kExact, 4095).cosines[1], -0.74236581761, 1e-11);
  const double wrong = round_to(Dtype::kBF16, static_cast<double>(f.exact[1]));
  EXPECT_EQ(wrong, 0.8671875);
  EXPECT_NEAR(std::cos(4095 * wrong), 0.42384145541, 1e-11);
}

TEST(Cases, C067_SineOfALargeArgument) {
  const Row row = row_of(make_case(128), TableAngle::kExact, 500000);
  EXPECT_NEAR(row.sines[0], 0.177831201518259, 1e-14);
  EXPECT_NEAR(row.cosines[0], -0.984061006120338, 1e-14);
}

TEST(Cases, C068_TwoTruths) {
  const RopeCase c = make_case(128);
  EXPECT_NEAR(row_of(c, TableAngle::kExact, 1048575).cosines[1], 0.12116824886, 1e-11);
  EXPECT_NEAR(row_of(c, TableAngle::kFloat32, 1048575).cosines[1], 0.0991707208791, 1e-12);
  EXPECT_NEAR(row_of(c, TableAngle::kExact, 10000000).cosines[1], 0.986645213368, 1e-12);
  EXPECT_NEAR(row_of(c, TableAngle::kFloat32, 10000000).cosines[1], 0.597824030588, 1e-12);
}

TEST(Cases, C070_SmallFrequencies) {
  const auto last = [](double theta) {
    return static_cast<double>(frequencies_of(make_case(128, theta)).exact[63]);
  };
  EXPECT_NEAR(last(1e6), 1.24093776075e-6, 1e-17);
  EXPECT_NEAR(last(75e6), 1.77005421612e-8, 1e-19);
  EXPECT_EQ(round_to(Dtype::kF16, last(1e6)), 1.2516975402832031e-06);
  EXPECT_EQ(round_to(Dtype::kF16, last(75e6)), 0.0);
}

TEST(Cases, C071_CancellationEitherWay) {
  const RopeCase c = make_case(2);
  const float x0 = static_cast<float>(std::sin(1.0)), x1 = static_cast<float>(std::cos(1.0));
  const std::vector<float> in = {x0, x1};
  const float second = static_cast<float>(double{x1} * x1 + double{x0} * x0);
  for (const float first : {0.0f, 1.2823875294998288e-10f, -1.2823875294998288e-10f}) {
    EXPECT_EQ(over(c, in, {first, second}), 0);
  }
  EXPECT_EQ(over(c, in, {1.5e-7f, second}), 2);  // more than 2 ULP of the products, 0.45
  expect_near(rotated(c, 1, {x0, x1}), {9.487306522e-9, 1}, 1e-7);
}

// C185: the reference by itself, without any table of ours.
TEST(Cases, C185_TheReferenceIsARotation) {
  const RopeCase c = make_case(96, 10000, Dtype::kF32, Pairing::kGptj);
  std::vector<double> x(96);
  for (int i = 0; i < 96; ++i) x[i] = std::sin(0.7 * i + 0.1) * (i % 7 - 3);
  EXPECT_EQ(rotated(c, 0, x), x);
  const auto norm = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double e : v) sum += e * e;
    return std::sqrt(sum);
  };
  EXPECT_NEAR(norm(rotated(c, 12345, x)), norm(x), 1e-13);
  expect_near(rotated(c, 1000, rotated(c, 234, x)), rotated(c, 1234, x), 1e-12);
}

TEST(Cases, C194_TransformersInverseFrequency) {
  EXPECT_EQ(frequencies_of(make_case(128, 1e6)).float32[1], 0.8058422207832336f);
  EXPECT_NE(frequencies_of(make_case(128, 1e6)).float32[1], 0.8058421611785889f);
}

}  // namespace
}  // namespace rope_bench
