#include "src/math/inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "src/math/numeric.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

constexpr DataKind kKinds[] = {DataKind::kNormal,    DataKind::kUniform, DataKind::kWide,
                               DataKind::kSubnormal, DataKind::kCancel,  DataKind::kLarge,
                               DataKind::kConstant,  DataKind::kSpecial};
constexpr Dtype kTypes[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};

RopeCase input_case(DataKind kind, Dtype dtype, int64_t tokens = 7, int64_t head_dim = 96) {
  RopeCase c = make_case(head_dim, 10000, dtype);
  c.data = kind;
  c.tokens = tokens;
  c.seed = 42;
  return c;
}

std::vector<uint8_t> bytes_of_inputs(const RopeCase& c, int64_t heads, int threads) {
  std::vector<uint8_t> bytes(static_cast<size_t>(c.num_tokens() * heads * c.head_dim) *
                             info(c.dtype).size);
  fill_inputs(c, TensorId::kQ, heads, heads * c.head_dim, c.head_dim, bytes.data(), threads);
  return bytes;
}

uint64_t fnv1a(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

// The bytes are a promise: results of two machines, or of two versions, are of the same inputs.
TEST(Inputs, BytesArePinned) {
  const std::map<std::string, uint64_t> pins = {
      {"f32 normal", 0xaf52bcecb089abb7},    {"f32 uniform", 0x48a04f4331ef5cc0},
      {"f32 wide", 0x185d4d893d77c6a3},      {"f32 subnormal", 0x5c6c98f3e3155bde},
      {"f32 cancel", 0x7d144fb2e1b0eda0},    {"f32 large", 0x9b250a6023c95485},
      {"f32 constant", 0x7dbc982e79c29665},  {"f32 special", 0x5b5619137289672f},
      {"f16 normal", 0xe6a1bf68b036c22d},    {"f16 uniform", 0xe7c0224ddef87197},
      {"f16 wide", 0x693993f898d44e11},      {"f16 subnormal", 0xa8cd715a2a48fd95},
      {"f16 cancel", 0x81a55776ffa93b08},    {"f16 large", 0xb1d02a94eda4d93d},
      {"f16 constant", 0x96a0768d7ce9f025},  {"f16 special", 0x37e59bb992906685},
      {"bf16 normal", 0x37d108f12401fcf8},   {"bf16 uniform", 0x74d3f3b1c9c740ff},
      {"bf16 wide", 0x6ad64eef6655e66f},     {"bf16 subnormal", 0x8d3e10654dcb0396},
      {"bf16 cancel", 0x4fb6163e1de4dd0},    {"bf16 large", 0xb47f9f201bcc3f65},
      {"bf16 constant", 0xee2d24dec09f9925}, {"bf16 special", 0x25abae074579d6dc},
  };
  for (const Dtype dtype : kTypes) {
    for (const DataKind kind : kKinds) {
      const std::string key = std::string(info(dtype).name) + " " + name(kind);
      const uint64_t hash = fnv1a(bytes_of_inputs(input_case(kind, dtype), 5, 1));
      const auto pin = pins.find(key);
      EXPECT_TRUE(pin != pins.end() && pin->second == hash)
          << "{\"" << key << "\", 0x" << std::hex << hash << "},";
    }
  }
}

TEST(Inputs, IndependentOfThreads) {
  const RopeCase c = input_case(DataKind::kNormal, Dtype::kBF16, 3000, 64);
  EXPECT_EQ(bytes_of_inputs(c, 3, 1), bytes_of_inputs(c, 3, 5));
}

TEST(Inputs, IndependentOfStridesAndGapsAreLeft) {
  const RopeCase c = input_case(DataKind::kNormal, Dtype::kF16, 4, 8);
  const auto packed = bytes_of_inputs(c, 2, 1);
  std::vector<uint16_t> spread(4 * 40, 0xabcd);
  fill_inputs(c, TensorId::kQ, 2, 40, 12, spread.data(), 1);
  for (int64_t t = 0; t < 4; ++t) {
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t j = 0; j < 8; ++j) {
        EXPECT_EQ(spread[t * 40 + h * 12 + j],
                  load_bits(c.dtype, packed.data(), (t * 2 + h) * 8 + j));
      }
      for (int64_t j = 8; j < 12; ++j) EXPECT_EQ(spread[t * 40 + h * 12 + j], 0xabcd);
    }
  }
}

TEST(Inputs, DependOnEveryCounter) {
  RopeCase c = input_case(DataKind::kNormal, Dtype::kF32, 2, 4);
  const auto first = bytes_of_inputs(c, 2, 1);
  std::vector<uint8_t> k(first.size());
  fill_inputs(c, TensorId::kK, 2, 8, 4, k.data(), 1);
  EXPECT_NE(first, k);
  c.seed = 43;
  EXPECT_NE(first, bytes_of_inputs(c, 2, 1));
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      EXPECT_NE(load_bits(c.dtype, first.data(), i), load_bits(c.dtype, first.data(), j));
    }
  }
}

struct Moments {
  double mean = 0, variance = 0, largest = 0, smallest = 1e300;
  int64_t nans = 0, infinities = 0, zeros = 0;
};

Moments moments(const RopeCase& c) {
  const auto bytes = bytes_of_inputs(c, 1, 2);
  Moments m;
  const int64_t n = c.num_tokens() * c.head_dim;
  for (int64_t i = 0; i < n; ++i) {
    const double x = load_as_double(c.dtype, bytes.data(), i);
    m.nans += std::isnan(x);
    m.infinities += std::isinf(x);
    m.zeros += x == 0;
    if (!std::isfinite(x)) continue;
    m.mean += x / static_cast<double>(n);
    m.variance += x * x / static_cast<double>(n);
    m.largest = std::max(m.largest, std::abs(x));
    m.smallest = std::min(m.smallest, std::abs(x));
  }
  return m;
}

TEST(Inputs, KindsAreWhatTheySay) {
  for (const Dtype dtype : kTypes) {
    const auto of = [&](DataKind kind) { return moments(input_case(kind, dtype, 2000, 128)); };
    // 256,000 draws: standard errors 0.002 of the mean and 0.0028 of the variance; 5 of each.
    const Moments normal = of(DataKind::kNormal);
    EXPECT_NEAR(normal.mean, 0, 0.01);
    EXPECT_NEAR(normal.variance, 1, 0.014);
    EXPECT_GT(normal.largest, 3.8);
    EXPECT_LT(normal.largest, 4.9);
    const Moments uniform = of(DataKind::kUniform);
    EXPECT_NEAR(uniform.variance, 1.0 / 3, 0.005);
    EXPECT_LE(uniform.largest, 1);
    const Moments wide = of(DataKind::kWide);
    EXPECT_GT(wide.largest / wide.smallest, dtype == Dtype::kF16 ? 0x1p26 : 0x1p115);
    const Moments subnormal = of(DataKind::kSubnormal);
    EXPECT_LT(subnormal.largest, pow(2.0, info(dtype).min_exponent + 1));
    EXPECT_GT(subnormal.largest, pow(2.0, info(dtype).min_exponent));
    const Moments large = of(DataKind::kLarge);
    EXPECT_GT(large.largest, 0.99 * max_finite(dtype));
    EXPECT_GE(large.smallest, max_finite(dtype) / 16.1);
    EXPECT_EQ(large.infinities, 0);
    const Moments special = of(DataKind::kSpecial);
    EXPECT_NEAR(static_cast<double>(special.nans) / 256000, 1.0 / 64, 0.002);
    EXPECT_NEAR(static_cast<double>(special.infinities) / 256000, 1.0 / 64, 0.002);
    EXPECT_GT(special.zeros, 0);
  }
}

TEST(Inputs, RowsOfCancelAndConstant) {
  for (const Dtype dtype : kTypes) {
    const RopeCase cancel = input_case(DataKind::kCancel, dtype, 64, 32);
    const RopeCase constant = input_case(DataKind::kConstant, dtype, 64, 32);
    const auto a = bytes_of_inputs(cancel, 1, 1);
    const auto b = bytes_of_inputs(constant, 1, 1);
    for (int64_t t = 0; t < 64; ++t) {
      int negative = 0;
      const double first = std::abs(load_as_double(dtype, a.data(), t * 32));
      for (int64_t j = 0; j < 32; ++j) {
        const double x = load_as_double(dtype, a.data(), t * 32 + j);
        negative += x < 0;
        EXPECT_LE(std::abs(std::abs(x) - first), 3 * ulp(dtype, first));
        EXPECT_EQ(load_bits(dtype, b.data(), t * 32 + j), load_bits(dtype, b.data(), t * 32));
      }
      EXPECT_GT(negative, 3);
      EXPECT_LT(negative, 29);
    }
  }
}

// Where an element lies does not change it: [batch, heads, tokens, dim] holds the same numbers.
TEST(Inputs, BatchEntriesHoldTheSameElements) {
  RopeCase c = input_case(DataKind::kNormal, Dtype::kF32, 3, 8);
  c.batch = 2;
  const std::vector<uint8_t> packed = bytes_of_inputs(c, 4, 1);
  std::vector<uint8_t> apart(packed.size());
  fill_inputs(c, TensorId::kQ, {4, 8, 8, 24, 3, 96}, apart.data(), 2);
  for (size_t b = 0; b < 2; ++b) {
    for (size_t t = 0; t < 3; ++t) {
      for (size_t h = 0; h < 4; ++h) {
        const uint8_t* one = &packed[(((b * 3 + t) * 4) + h) * 32];
        const uint8_t* other = &apart[(((b * 4 + h) * 3) + t) * 32];
        EXPECT_TRUE(std::equal(one, one + 32, other)) << b << t << h;
      }
    }
  }
}

TEST(Inputs, WeightsLieAroundWhatANormMultipliesBy) {
  RopeCase c = input_case(DataKind::kSpecial, Dtype::kF32);
  const auto mean_of = [&](TensorId id) {
    std::vector<float> values(4096);
    fill_parameters(c, id, 4096, values.data());
    double sum = 0, square = 0;
    for (const float value : values) {
      EXPECT_TRUE(std::isfinite(value));  // whatever the data is
      sum += value;
      square += value * value;
    }
    const double mean = sum / 4096;
    return std::pair(mean, square / 4096 - mean * mean);
  };
  EXPECT_NEAR(mean_of(TensorId::kQWeight).first, 1, 0.01);
  EXPECT_NEAR(mean_of(TensorId::kQWeight).second, 1.0 / 64, 0.002);
  EXPECT_NEAR(mean_of(TensorId::kBias).second, 1, 0.1);
  c.norm.weight_offset = 1;
  EXPECT_NEAR(mean_of(TensorId::kKWeight).first, 0, 0.01);
}

TEST(Inputs, BytesOfParametersArePinned) {
  RopeCase c = input_case(DataKind::kNormal, Dtype::kBF16);
  const auto hash = [&](TensorId id) {
    std::vector<uint8_t> bytes(2 * 96);
    fill_parameters(c, id, 96, bytes.data());
    return fnv1a(bytes);
  };
  EXPECT_EQ(hash(TensorId::kBias), 0xf490090d81dababcu);
  EXPECT_EQ(hash(TensorId::kQWeight), 0xa7e9e1d397bbe59au);
  EXPECT_EQ(hash(TensorId::kKWeight), 0xe3285772b0e7618fu);
}

TEST(Inputs, TwentyMillionElementsAreQuick) {
  if (!kTimesCount) GTEST_SKIP() << "times are not judged in this build";
  const RopeCase c = input_case(DataKind::kNormal, Dtype::kBF16, 4096, 128);
  std::vector<uint8_t> bytes(size_t{4096} * 40 * 128 * 2);
  const double best = two_core_seconds(
      3, [&] { fill_inputs(c, TensorId::kQ, 40, 40 * 128, 128, bytes.data(), 2); });
  EXPECT_LT(best, 0.15);  // 0.03 s on two idle cores
}

}  // namespace
}  // namespace rope_bench
