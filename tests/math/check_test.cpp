// What passes and what fails: right float32 kernels of every contraction, and planted faults.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/case/errors.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

constexpr Dtype kTypes[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
constexpr Pairing kPairingKinds[] = {Pairing::kNeox, Pairing::kGptj};

// 104,448 elements, 78,336 of them rotated.
RopeCase check_case(Dtype dtype, Pairing pairing = Pairing::kNeox) {
  RopeCase c = make_case(128, 10000, dtype, pairing);
  c.rope.rotary_dim = 96;
  c.num_heads = 6;
  c.num_kv_heads = 2;
  c.tokens = 102;
  c.seed = 7;
  return c;
}

CosSinTable table_for(const RopeCase& c, double attention_factor = 1) {
  Frequencies f = frequencies_of(c);
  f.attention_factor = attention_factor;
  return build_table(f, TableAngle::kExact, 4096, 2);
}

Accuracy checked(const RopeCase& c, const CosSinTable& table, Fault fault,
                 Contraction contraction = Contraction::kNone, int64_t first = 1000) {
  Buffers b(c);
  const auto positions = sequential(first, c.num_tokens());
  FakeKernel(c, table, contraction, fault).run(positions, &b);
  return check_rope(c, true, table, positions, b.tensors(c), 2);
}

TEST(Check, RightKernelsPassWithAndWithoutFma) {
  for (const Dtype dtype : kTypes) {
    for (const Pairing pairing : kPairingKinds) {
      for (const DataKind data :
           {DataKind::kNormal, DataKind::kUniform, DataKind::kWide, DataKind::kSubnormal,
            DataKind::kCancel, DataKind::kLarge, DataKind::kConstant, DataKind::kSpecial}) {
        for (const double af : {1.0, 1.3465735902799727}) {
          RopeCase c = check_case(dtype, pairing);
          c.data = data;
          const CosSinTable table = table_for(c, af);
          for (const Contraction contraction :
               {Contraction::kNone, Contraction::kFirst, Contraction::kSecond}) {
            const Accuracy a = checked(c, table, Fault::kNone, contraction);
            EXPECT_EQ(a.num_over, 0) << info(dtype).name << " " << name(data) << " af " << af;
            EXPECT_LE(a.max_bound_ratio, 1);
            EXPECT_LE(a.max_ulp, a.tolerance_ulp);
            EXPECT_LE(a.table_max_abs, a.table_tolerance);
          }
        }
      }
    }
  }
}

TEST(Check, BoundIsNearlyReached) {
  const RopeCase bf16 = check_case(Dtype::kBF16);
  EXPECT_GT(checked(bf16, table_for(bf16), Fault::kNone).max_bound_ratio, 0.99);
  const RopeCase f16 = check_case(Dtype::kF16);
  EXPECT_GT(checked(f16, table_for(f16), Fault::kNone).max_bound_ratio, 0.95);
  const RopeCase f32 = check_case(Dtype::kF32);
  EXPECT_GT(checked(f32, table_for(f32), Fault::kNone).max_bound_ratio, 0.5);
}

TEST(Check, PlantedFaultsFail) {
  for (const Dtype dtype : kTypes) {
    for (const Pairing pairing : kPairingKinds) {
      const RopeCase c = check_case(dtype, pairing);
      const CosSinTable table = table_for(c);
      std::vector<Fault> faults = {
          Fault::kTableBf16,       Fault::kTableF16,  Fault::kOtherPairing, Fault::kNegatedSin,
          Fault::kPositionPlusOne, Fault::kWholeHead, Fault::kTwice};
      if (dtype != Dtype::kF32) {  // float32 rounds every step anyway
        faults.insert(faults.end(), {Fault::kArithmeticStorage, Fault::kSecondRounding,
                                     Fault::kRoundedThenScaled});
      }
      for (const Fault fault : faults) {
        if (dtype == Dtype::kBF16 && fault == Fault::kTableF16) continue;  // below bf16's own grain
        const Accuracy a = checked(c, table, fault);
        EXPECT_GT(a.num_over, 0) << info(dtype).name << " fault " << static_cast<int>(fault);
        EXPECT_GT(a.max_bound_ratio, 1);
        ASSERT_TRUE(a.worst.has_value());
        EXPECT_NE(a.worst->got, a.worst->want);
      }
    }
  }
}

// A wrong attention factor: forgotten, and applied twice.
TEST(Check, WrongAttentionFactorFails) {
  const RopeCase c = check_case(Dtype::kBF16);
  const CosSinTable once = table_for(c, 1.3465735902799727);
  Buffers b(c);
  const auto positions = sequential(0, c.num_tokens());
  for (const double af : {1.0, 1.81326043404}) {
    FakeKernel(c, table_for(c, af), Contraction::kNone, Fault::kNone).run(positions, &b);
    EXPECT_GT(check_rope(c, true, once, positions, b.tensors(c), 2).num_over, 10000);
  }
}

TEST(Check, LocatesOneWrongElement) {
  for (const Dtype dtype : kTypes) {
    RopeCase c = check_case(dtype, Pairing::kGptj);
    c.layout.q.rotary_offset = 16;
    c.layout.k.rotary_offset = 8;
    const CosSinTable table = table_for(c);
    const auto positions = sequential(5, c.num_tokens());
    Buffers b(c);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run(positions, &b);
    ASSERT_EQ(check_rope(c, true, table, positions, b.tensors(c), 2).num_over, 0);
    // Element (k, token 77, head 1, dim 20).
    const int64_t index = (77 * 2 + 1) * 128 + 20;
    const double right = load_as_double(dtype, b.k_out.data(), index);
    store_rounded(dtype, b.k_out.data(), index, right + 1);
    const Accuracy a = check_rope(c, true, table, positions, b.tensors(c), 2);
    EXPECT_EQ(a.num_over, 1);
    ASSERT_TRUE(a.worst.has_value());
    EXPECT_EQ(a.worst->tensor, "k");
    EXPECT_EQ(a.worst->token, 77);
    EXPECT_EQ(a.worst->head, 1);
    EXPECT_EQ(a.worst->dim, 20);
    EXPECT_NEAR(a.worst->want, right, 0.02);
    EXPECT_NEAR(a.worst->got, right + 1, 0.02);
    EXPECT_NEAR(a.kernel_max_abs, 1, 0.02);
    // Pair 6 of dims 8 to 103 is dims 20 and 21; token 77 is at position 82.
    const double angle = 82 * std::pow(10000.0, -12.0 / 96);
    EXPECT_EQ(a.worst->x, load_as_double(dtype, b.k_in.data(), index));
    EXPECT_EQ(a.worst->y, load_as_double(dtype, b.k_in.data(), index + 1));
    EXPECT_NEAR(a.worst->cosine.value(), std::cos(angle), 1e-6);
    EXPECT_NEAR(a.worst->sine.value(), std::sin(angle), 1e-6);
    EXPECT_GT(a.worst->bound_ratio, 50);
    EXPECT_EQ(a.worst->bound_ratio, a.max_bound_ratio);
    EXPECT_EQ(a.worst->ulp, a.max_ulp);
    // The other nine are right.
    ASSERT_EQ(a.worst_elements.size(), 10u);
    EXPECT_EQ(a.worst_elements[0].dim, 20);
    for (size_t i = 1; i < 10; ++i) {
      EXPECT_LE(a.worst_elements[i].bound_ratio, 1);
      EXPECT_LE(a.worst_elements[i].bound_ratio, a.worst_elements[i - 1].bound_ratio);
    }
  }
}

// A flipped bit in a dim that must pass through is as wrong as anything, and is located. C015: this
// is also what a kernel that writes beyond its rotary dims, into the next head, looks like.
TEST(Check, PassThroughBitFlipFails) {
  for (const int64_t dim : {0, 15, 112, 127}) {
    RopeCase c = check_case(Dtype::kBF16);
    c.layout.q.rotary_offset = 16;
    const CosSinTable table = table_for(c);
    const auto positions = sequential(0, c.num_tokens());
    Buffers b(c);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run(positions, &b);
    b.q_out[static_cast<size_t>(((33 * 6 + 4) * 128 + dim) * 2)] ^= 1;
    const Accuracy a = check_rope(c, true, table, positions, b.tensors(c), 2);
    EXPECT_EQ(a.num_over, 1);
    EXPECT_TRUE(std::isinf(a.max_bound_ratio));
    ASSERT_TRUE(a.worst.has_value());
    EXPECT_EQ(a.worst->tensor, "q");
    EXPECT_EQ(a.worst->token, 33);
    EXPECT_EQ(a.worst->head, 4);
    EXPECT_EQ(a.worst->dim, dim);
  }
}

TEST(Check, IndependentOfThreads) {
  const RopeCase c = check_case(Dtype::kF16);
  const CosSinTable table = table_for(c);
  const auto positions = sequential(3, c.num_tokens());
  Buffers b(c);
  FakeKernel(c, table, Contraction::kNone, Fault::kTableBf16).run(positions, &b);
  const Accuracy one = check_rope(c, true, table, positions, b.tensors(c), 1);
  const Accuracy many = check_rope(c, true, table, positions, b.tensors(c), 7);
  EXPECT_EQ(one.max_ulp, many.max_ulp);
  EXPECT_EQ(one.kernel_rms, many.kernel_rms);
  EXPECT_EQ(one.kernel_nmse, many.kernel_nmse);
  EXPECT_EQ(one.num_over, many.num_over);
  EXPECT_EQ(one.worst->token, many.worst->token);
  EXPECT_EQ(one.worst->dim, many.worst->dim);
}

// One pair by hand: x = (1, 2), a quarter turn gives (-2, 1).
struct OnePair {
  RopeCase c;
  CosSinTable table;
  std::vector<uint8_t> in, out;

  OnePair(Dtype dtype, double x, double y, double got_x, double got_y, double cosine = 0,
          double sine = 1)
      : c(make_case(2, 10000, dtype)), in(8), out(8) {
    table.rows = 1;
    table.rotary_dim = 2;
    table.frequencies = {{1.0L}, {1.0f}};
    table.values = {static_cast<float>(cosine), static_cast<float>(sine)};
    store_rounded(dtype, in.data(), 0, x);
    store_rounded(dtype, in.data(), 1, y);
    store_rounded(dtype, out.data(), 0, got_x);
    store_rounded(dtype, out.data(), 1, got_y);
  }
  Accuracy check() const {
    const HostTensor a{in.data(), 2, 2}, b{out.data(), 2, 2};
    return check_rope(c, true, table, {0}, {a, a, b, b}, 1);
  }
  int64_t over() const { return check().num_over / 2; }  // q and k are the same bytes
};

TEST(Check, SpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  EXPECT_EQ(OnePair(Dtype::kF16, 1, 2, -2, 1).over(), 0);
  EXPECT_EQ(OnePair(Dtype::kF16, 1, 2, 2, 1).over(), 1);
  // NaN matches any NaN and nothing else.
  EXPECT_EQ(OnePair(Dtype::kF16, nan, 2, -nan, nan).over(), 0);
  EXPECT_EQ(OnePair(Dtype::kF16, nan, 2, -2, nan).over(), 1);
  EXPECT_EQ(OnePair(Dtype::kF16, 1, 2, nan, 1).over(), 1);
  // Inf matches in sign. (0.6, 0.8): no product of infinity and zero.
  EXPECT_EQ(OnePair(Dtype::kF16, inf, 2, inf, inf, 0.6, 0.8).over(), 0);
  EXPECT_EQ(OnePair(Dtype::kF16, inf, 2, -inf, inf, 0.6, 0.8).over(), 1);
  EXPECT_EQ(OnePair(Dtype::kF16, inf, 2, inf, 65504, 0.6, 0.8).over(), 1);
  EXPECT_EQ(OnePair(Dtype::kF16, 1, 2, -inf, 1).over(), 1);
  const Accuracy a = OnePair(Dtype::kF16, 1, 2, -inf, 1).check();
  EXPECT_TRUE(std::isinf(a.kernel_max_abs));
  EXPECT_TRUE(std::isinf(a.worst->got));
}

// A quarter turn of (1, 2) is (-2, 1): -2 - 2^-9 is one f16 ULP of the product 2 off. q and k
// count.
TEST(Check, ErrorsAreCountedByTheirSize) {
  const Accuracy a = OnePair(Dtype::kF16, 1, 2, -2 - 0x1p-9, 1).check();
  std::array<int64_t, UlpHistogram::kBins> want{};
  want[0] = 2;
  want[7] = 2;  // [1, 2) ULP
  EXPECT_EQ(a.ulp_histogram.counts, want);
  EXPECT_EQ(a.num_compared, 4);
  EXPECT_EQ(a.num_correctly_rounded, 2);
  EXPECT_EQ(a.worst->ulp, 1);
  EXPECT_EQ(a.worst_elements.size(), 2u);  // the others are not off at all
  // What is infinitely far off is in the last bin; a NaN that matches has no error.
  const double nan = std::nan("");
  EXPECT_EQ(OnePair(Dtype::kF16, 1, 2, nan, 1).check().ulp_histogram.counts.back(), 2);
  EXPECT_EQ(OnePair(Dtype::kF16, nan, 2, nan, nan).check().num_compared, 0);
}

// Below a power of two numbers are closer: 0.9998 lies between 1 - 2^-11 and 1, nearer to 1.
TEST(Check, CorrectlyRoundedIsTheNearestNumber) {
  const auto rounded = [](double got) {
    return OnePair(Dtype::kF16, 1, 0, got, 0, 0.9998, 0).check().num_correctly_rounded;
  };
  EXPECT_EQ(rounded(1), 4);
  EXPECT_EQ(rounded(1 - 0x1p-11), 2);  // the zeros alone
}

TEST(Check, BinsAreBinades) {
  const std::pair<double, size_t> bins[] = {{0, 0},   {0.0156, 0},  {0x1p-6, 1}, {0.49, 5},
                                            {0.5, 6}, {0.999, 6},   {1, 7},      {1.5, 7},
                                            {2, 8},   {1023.9, 16}, {1024, 17},  {1e300, 17}};
  for (const auto& [ulps, bin] : bins) {
    EXPECT_EQ(UlpHistogram::bin_of(ulps), bin) << ulps;
    EXPECT_LE(UlpHistogram::from(bin), ulps);
    if (bin + 1 < UlpHistogram::kBins) {
      EXPECT_GT(UlpHistogram::from(bin + 1), ulps);
    }
  }
  EXPECT_EQ(UlpHistogram::bin_of(std::numeric_limits<double>::infinity()), 17u);
  EXPECT_EQ(UlpHistogram::bin_of(std::nan("")), 17u);
}

TEST(Check, EndOfTheRange) {
  const double inf = std::numeric_limits<double>::infinity();
  // (x, x) turned by 45 degrees: second result x sqrt(2). 65504 / sqrt(2) = 46318.3.
  const double h = std::sqrt(0.5);
  const auto over = [h](double x, double got) {
    return OnePair(Dtype::kF16, x, x, 0, got, h, h).over();
  };
  EXPECT_EQ(over(46304, 65472), 0);  // 65483.7: one ULP below the end, both neighbours pass
  EXPECT_EQ(over(46304, inf), 0);
  EXPECT_EQ(over(46304, -inf), 1);
  EXPECT_EQ(over(46336, 65504), 0);  // 65529.0
  EXPECT_EQ(over(46336, inf), 0);
  EXPECT_EQ(over(46400, 65504), 1);  // 65619.5: beyond, only infinity is right
  EXPECT_EQ(over(46400, inf), 0);
  EXPECT_EQ(over(46208, inf), 1);  // 65348.0
}

// Errors against a wrong unit: results that are nearly zero must not be judged by their own ULP.
TEST(Check, CancellationIsJudgedByTheProducts) {
  // 3 cos - 3 sin at 45 degrees: any value below 2 ULP of 3 / sqrt(2) is right in float32.
  const double h = std::sqrt(0.5);
  EXPECT_EQ(OnePair(Dtype::kF32, 3, 3, 0x1p-22, 3 * std::sqrt(2.0), h, h).over(), 0);
  EXPECT_EQ(OnePair(Dtype::kF32, 3, 3, 0x1p-20, 3 * std::sqrt(2.0), h, h).over(), 1);
}

TEST(Check, WithoutTableExactAnglesJudge) {
  const RopeCase c = check_case(Dtype::kBF16);
  const auto positions = sequential(131000 - c.num_tokens(), c.num_tokens());
  const auto over = [&](TableAngle angle) {
    const CosSinTable kernel_table = build_table(frequencies_of(c), angle, 131072, 2);
    Buffers b(c);
    FakeKernel(c, kernel_table, Contraction::kFirst, Fault::kNone).run(positions, &b);
    return check_rope(c, false, kernel_table, positions, b.tensors(c), 2);
  };
  const Accuracy right = over(TableAngle::kExact);
  EXPECT_EQ(right.num_over, 0);
  EXPECT_EQ(right.table_max_abs, 0);
  EXPECT_NEAR(right.total_max_abs, right.kernel_max_abs, 1e-15);
  EXPECT_GT(over(TableAngle::kFloat32).num_over, 1000);  // float32 angles at 131,000
}

// The blame is separated: with a float32 table the kernel is right, the table is as far off as its
// model allows, and the total error shows both.
TEST(Check, BlameIsSeparated) {
  const RopeCase c = check_case(Dtype::kF32);
  const CosSinTable table = build_table(frequencies_of(c), TableAngle::kFloat32, 131072, 2);
  const Accuracy a = checked(c, table, Fault::kNone, Contraction::kNone, 130000);
  EXPECT_EQ(a.num_over, 0);
  EXPECT_LT(a.kernel_max_abs, 1e-6);
  EXPECT_GT(a.table_max_abs, 1e-3);
  EXPECT_LE(a.table_max_abs, a.table_tolerance);
  EXPECT_GT(a.total_max_abs, 1e-3);
}

TEST(Check, NoTokensAndBadPositions) {
  RopeCase c = check_case(Dtype::kBF16);
  const CosSinTable table = table_for(c);
  Buffers b(c);
  const Accuracy a = check_rope(c, true, table, {}, b.tensors(c), 2);
  EXPECT_EQ(a.num_over, 0);
  EXPECT_EQ(a.kernel_rms, 0);
  EXPECT_FALSE(a.worst.has_value());
  EXPECT_THROW(check_rope(c, true, table, {4096}, b.tensors(c), 2), DeviceError);
  EXPECT_THROW(check_rope(c, true, table, {-1}, b.tensors(c), 2), DeviceError);
}

TEST(Check, IsQuick) {
  if (!kTimesCount) GTEST_SKIP() << "times are not judged in this build";
  for (const Pairing pairing : kPairingKinds) {
    RopeCase c = make_case(128, 10000, Dtype::kBF16, pairing);
    c.num_heads = 32;
    c.num_kv_heads = 8;
    c.tokens = 1024;
    const CosSinTable table = table_for(c);
    Buffers b(c);
    const auto positions = sequential(0, 1024);
    FakeKernel(c, table, Contraction::kNone, Fault::kNone).run(positions, &b);
    const double best = two_core_seconds(
        3, [&] { EXPECT_EQ(check_rope(c, true, table, positions, b.tensors(c), 2).num_over, 0); });
    EXPECT_LT(best, 0.125);  // 0.02 s on two idle cores; 4096 tokens four times as much
  }
}

}  // namespace
}  // namespace rope_bench
