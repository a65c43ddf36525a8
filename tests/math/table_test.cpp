#include "src/math/table.h"

#include <gtest/gtest.h>
#include <quadmath.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "src/case/errors.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

__extension__ using Quad = __float128;

// Every value of the double row within 4e-10 (position 2^31) and of its float32 rounding within
// 2^-24, against 113-bit arithmetic from theta on.
TEST(Table, ExactAgainstQuadPrecision) {
  std::mt19937_64 random(1);
  double worst_double = 0, worst_float = 0;
  std::map<std::pair<double, int64_t>, Frequencies> frequencies;
  for (int n = 0; n < 10000; ++n) {
    const double theta = std::array{1e4, 5e5, 1e6, 75e6}[n % 4];
    const int64_t rotary_dim = std::array{64, 80, 128, 256}[(n / 4) % 4];
    const int64_t limit = n % 8 == 7 ? (int64_t{1} << 31) - 1 : int64_t{1} << 24;
    const int64_t position = std::uniform_int_distribution<int64_t>(0, limit)(random);
    const int64_t pair = std::uniform_int_distribution<int64_t>(0, rotary_dim / 2 - 1)(random);
    Frequencies& f = frequencies[{theta, rotary_dim}];
    if (f.exact.empty()) f = frequencies_of(make_case(rotary_dim, theta));
    const Row row = row_of(f, TableAngle::kExact, position);
    const Quad exponent = -static_cast<Quad>(2 * pair) / static_cast<Quad>(rotary_dim);
    const Quad angle = static_cast<Quad>(position) * powq(static_cast<Quad>(theta), exponent);
    Quad sine, cosine;
    sincosq(angle, &sine, &cosine);
    for (const auto& [got, want] :
         {std::pair{row.cosines[pair], cosine}, std::pair{row.sines[pair], sine}}) {
      worst_double = std::max(worst_double, static_cast<double>(fabsq(got - want)));
      worst_float =
          std::max(worst_float, static_cast<double>(fabsq(static_cast<float>(got) - want)));
    }
  }
  EXPECT_LT(worst_double, 4e-10);
  EXPECT_LE(worst_float, 0x1p-24);
}

TEST(Table, ExactAtEdges) {
  const RopeCase c = make_case(128);
  const Row zero = row_of(c, TableAngle::kExact, 0);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(zero.cosines[i], 1.0);
    EXPECT_EQ(zero.sines[i], 0.0);
  }
  // Quarter turns, where cosine and sine change places and signs.
  const Frequencies quarters{{1.57079632679489661923132169163975144L, -0.5L}, {1.5707964f, -0.5f}};
  const double cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
  for (int64_t p = 0; p < 4; ++p) {
    const Row row = row_of(quarters, TableAngle::kExact, p);
    EXPECT_NEAR(row.cosines[0], cosines[p], 1e-15);
    EXPECT_NEAR(row.sines[0], sines[p], 1e-15);
    // A negative frequency turns the other way.
    EXPECT_NEAR(row.cosines[1], std::cos(0.5 * static_cast<double>(p)), 1e-15);
    EXPECT_NEAR(row.sines[1], -std::sin(0.5 * static_cast<double>(p)), 1e-15);
  }
}

TEST(Table, RowsAreTheRoundedDoubles) {
  RopeCase c = make_case(8, 10000);
  Frequencies f = frequencies_of(c);
  f.attention_factor = 1.25;
  for (const TableAngle angle : {TableAngle::kExact, TableAngle::kFloat32}) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      const CosSinTable table = build_table(f, angle, 300, 3, dtype);
      ASSERT_EQ(table.values.size(), 300u * 8);
      for (int64_t p = 0; p < 300; ++p) {
        const Row row = row_of(f, angle, p);
        for (int64_t i = 0; i < 4; ++i) {
          ASSERT_EQ(table.values[p * 8 + i], round_f32(dtype, row.cosines[i]));
          ASSERT_EQ(table.values[p * 8 + 4 + i], round_f32(dtype, row.sines[i]));
        }
      }
    }
  }
}

// The stated model holds, and is not so wide that a table of another kind would pass it.
TEST(Table, ErrorWithinItsModel) {
  const Frequencies f = frequencies_of(make_case(32, 500000));
  std::vector<int64_t> positions = sequential(0, 4096);
  for (int64_t p = 120000; p < 131072; ++p) positions.push_back(p);
  for (const TableAngle angle : {TableAngle::kExact, TableAngle::kFloat32}) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      const TableError error = table_error(build_table(f, angle, 131072, 2, dtype), positions, 2);
      EXPECT_GT(error.max_abs, 0);
      EXPECT_LE(error.max_abs, error.tolerance) << name(angle) << info(dtype).name;
      if (angle == TableAngle::kExact) {
        EXPECT_EQ(error.tolerance, std::pow(2.0, -info(dtype).mantissa_bits - 1));
      } else {
        EXPECT_GT(error.max_abs, 1e-3);  // what float32 angles cost at 131071
        EXPECT_LT(error.tolerance, 5e-2);
      }
    }
  }
}

TEST(Table, ErrorFindsPlantedFaults) {
  const RopeCase c = make_case(64, 10000);
  const Frequencies f = frequencies_of(c);
  const auto over = [](const CosSinTable& table, const std::vector<int64_t>& positions) {
    const TableError error = table_error(table, positions, 2);
    return error.max_abs > error.tolerance;
  };
  CosSinTable table = build_table(f, TableAngle::kFloat32, 8192, 2);
  table.angle = TableAngle::kExact;  // float32 angles sold as exact ones
  EXPECT_TRUE(over(table, sequential(0, 8192)));

  table = build_table(f, TableAngle::kExact, 8192, 2, Dtype::kBF16);
  table.dtype = Dtype::kF32;
  EXPECT_TRUE(over(table, sequential(0, 8192)));

  // One small value, far below the largest allowance of the float32 model.
  table = build_table(f, TableAngle::kFloat32, 8192, 2);
  EXPECT_FALSE(over(table, sequential(0, 8192)));
  table.values[7 * 64 + 31] += 1e-5f;
  EXPECT_TRUE(over(table, sequential(0, 8192)));
  EXPECT_FALSE(over(table, sequential(8, 100)));
  table.values[8 * 64] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(over(table, sequential(8, 100)));
}

TEST(Table, CacheSharesEqualTables) {
  TableCache cache;
  RopeCase c = make_case(64);
  c.max_position = 100;
  const auto first = cache.get(c, 1);
  EXPECT_EQ(first->rows, 100);
  RopeCase same = c;
  same.rope.scaling = {"linear", {{"factor", 1.0}}};
  EXPECT_EQ(cache.get(same, 1), first);  // another way to say the same
  RopeCase other = c;
  other.rope.scaling = {"linear", {{"factor", 2.0}}};
  EXPECT_NE(cache.get(other, 1), first);
  other = c;
  other.max_position = 200;
  EXPECT_NE(cache.get(other, 1), first);
  other = c;
  other.rope.table.angle = TableAngle::kFloat32;
  EXPECT_NE(cache.get(other, 1), first);
  other = c;
  other.rope.table.dtype = Dtype::kBF16;
  EXPECT_NE(cache.get(other, 1), first);
  EXPECT_EQ(cache.get(c, 1), first);
}

TEST(Table, RefusesImpossibleSizes) {
  const Frequencies f = frequencies_of(make_case(64));
  EXPECT_THROW(build_table(f, TableAngle::kExact, (int64_t{1} << 31) + 1, 1), ConfigError);
}

TEST(Table, BuildsQuickly) {
  if (!kTimesCount) GTEST_SKIP() << "times are not judged in this build";
  const Frequencies f = frequencies_of(make_case(128));
  const int threads = 2;
  const auto build = [&](int64_t rows) {
    return two_core_seconds(rows > 200000 ? 1 : 3,
                            [&] { build_table(f, TableAngle::kExact, rows, threads); });
  };
  EXPECT_LT(build(131072), 0.5);   // 0.07 s on two idle cores
  EXPECT_LT(build(1048576), 4.0);  // 0.6 s
}

}  // namespace
}  // namespace rope_bench
