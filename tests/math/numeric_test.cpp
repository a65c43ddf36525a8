#include "src/math/numeric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/math/convert.h"
#include "src/math/tolerance.h"

namespace rope_bench {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

uint32_t stored_bits(Dtype dtype, double x) {
  uint32_t cell = 0;
  store_rounded(dtype, &cell, 0, x);
  return load_bits(dtype, &cell, 0);
}

TEST(Numeric, HalfRoundsToNearestEven) {
  EXPECT_EQ(stored_bits(Dtype::kF16, 1.0), 0x3c00u);
  EXPECT_EQ(stored_bits(Dtype::kF16, 1.0 + 0x1p-11), 0x3c00u);            // tie, down to even
  EXPECT_EQ(stored_bits(Dtype::kF16, 1.0 + 3 * 0x1p-11), 0x3c02u);        // tie, up to even
  EXPECT_EQ(stored_bits(Dtype::kF16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);  // one rounding only
  EXPECT_EQ(stored_bits(Dtype::kF16, 65504), 0x7bffu);
  EXPECT_EQ(stored_bits(Dtype::kF16, 65519.99), 0x7bffu);
  EXPECT_EQ(stored_bits(Dtype::kF16, 65520), 0x7c00u);
  EXPECT_EQ(stored_bits(Dtype::kF16, -kInf), 0xfc00u);
  EXPECT_EQ(stored_bits(Dtype::kF16, 0x1p-24), 0x0001u);
  EXPECT_EQ(stored_bits(Dtype::kF16, 0x1p-25), 0x0000u);
  EXPECT_EQ(stored_bits(Dtype::kF16, 3 * 0x1p-25), 0x0002u);
  EXPECT_EQ(stored_bits(Dtype::kF16, -0.0), 0x8000u);
  EXPECT_EQ(stored_bits(Dtype::kF16, 0x1p-14 - 0x1p-26), 0x0400u);  // up into the normal range
}

TEST(Numeric, BfloatRoundsToNearestEven) {
  EXPECT_EQ(stored_bits(Dtype::kBF16, 1.0), 0x3f80u);
  EXPECT_EQ(stored_bits(Dtype::kBF16, 257), 0x4380u);  // C062: 256
  EXPECT_EQ(stored_bits(Dtype::kBF16, 259), 0x4382u);
  EXPECT_EQ(stored_bits(Dtype::kBF16, 1.0 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(stored_bits(Dtype::kBF16, 0x1p-133), 0x0001u);
  EXPECT_EQ(stored_bits(Dtype::kBF16, 3.4e38), 0x7f80u);
  EXPECT_EQ(stored_bits(Dtype::kBF16, 3.39e38), 0x7f7fu);
}

TEST(Numeric, NansStayNans) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    uint32_t cell = 0;
    store_rounded(dtype, &cell, 0, std::nan(""));
    EXPECT_TRUE(std::isnan(load_as_double(dtype, &cell, 0)));
  }
}

// Every 16-bit number that is not a NaN survives the way through double and back.
TEST(Numeric, SixteenBitTypesRoundTrip) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const uint16_t cell = static_cast<uint16_t>(bits);
      const double x = load_as_double(dtype, &cell, 0);
      if (std::isnan(x)) continue;
      ASSERT_EQ(stored_bits(dtype, x), bits) << info(dtype).name;
    }
  }
  // Neighbours differ by one ULP: the values themselves are right, not only the round trip.
  for (uint32_t bits = 0; bits + 1 < 0x7c00; ++bits) {
    const uint16_t cells[2] = {static_cast<uint16_t>(bits), static_cast<uint16_t>(bits + 1)};
    const double x = load_as_double(Dtype::kF16, cells, 0);
    ASSERT_EQ(load_as_double(Dtype::kF16, cells, 1) - x, ulp(Dtype::kF16, x)) << bits;
  }
}

// The quick conversions of the input generator against the general one.
TEST(Numeric, QuickConversionsAgree) {
  for (uint32_t i = 0; i < 2000000; ++i) {
    const float x = std::bit_cast<float>(i * 2147u) * (i % 2 == 0 ? 1.0f : -1.0f);
    if (!std::isfinite(x)) continue;
    if (std::abs(x) < 65504) {
      ASSERT_EQ(Element<Dtype::kF16>::from_float(x), stored_bits(Dtype::kF16, x)) << x;
    }
    ASSERT_EQ(Element<Dtype::kBF16>::from_float(x), stored_bits(Dtype::kBF16, x)) << x;
  }
}

TEST(Numeric, Ulp) {
  EXPECT_EQ(ulp(Dtype::kF32, 1.0), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::kF32, -1.999), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::kF32, 0.0), 0x1p-149);
  EXPECT_EQ(ulp(Dtype::kF32, 1e-44), 0x1p-149);
  EXPECT_EQ(ulp(Dtype::kF16, 1000.0), 0.5);
  EXPECT_EQ(ulp(Dtype::kF16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(ulp(Dtype::kBF16, 1.0), 0x1p-7);
  EXPECT_EQ(max_finite(Dtype::kF16), 65504);
  EXPECT_EQ(max_finite(Dtype::kF32), std::numeric_limits<float>::max());
  EXPECT_EQ(max_finite(Dtype::kBF16), 0x1.fep127);
}

TEST(Tolerance, StatedValues) {
  EXPECT_EQ(rotation_tolerance_ulp(Dtype::kBF16), 1 + 0x1p-15);
  EXPECT_EQ(rotation_tolerance_ulp(Dtype::kF16), 1 + 0x1p-12);
  EXPECT_EQ(rotation_tolerance_ulp(Dtype::kF32), 2);
  // The largest result of products of magnitude p is just below 2 p: the bound meets its stated
  // value.
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    EXPECT_EQ(rotation_bound(dtype, 2.0, 1.0) / ulp(dtype, 1.0), rotation_tolerance_ulp(dtype));
  }
}

}  // namespace
}  // namespace rope_bench
