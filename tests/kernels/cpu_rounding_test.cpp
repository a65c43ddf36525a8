// The conversions inside the CPU kernels: exact widening, one rounding to nearest even, NaN.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/kernels/cpu_test_kernels.h"

namespace rope_bench::testing {
namespace {

using CpuRounding = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuRounding,
                         ::testing::ValuesIn(only_with_table(only_rope(all_cpu_variants()))),
                         kernel_label);

// One token, one head of q, in place. Pairs (x, y) = (data[2i], data[2i + 1]).
template <typename Bits>
void run(const RopeVariant& variant, Dtype dtype, std::vector<Bits>* data,
         const std::vector<float>& table) {
  RopeKernelArgs args{};
  args.struct_size = sizeof(args);
  args.dtype = static_cast<int32_t>(dtype);
  args.pairing = ROPE_PAIRING_GPTJ;
  args.num_tokens = 1;
  args.head_dim = args.rotary_dim = static_cast<int32_t>(data->size());
  args.q.in = args.q.out = data->data();
  args.q.num_heads = 1;
  args.table = table.data();
  args.table_rows = 1;
  args.table_row_stride = args.rotary_dim;
  const int32_t position = 0;
  args.position_bits = 32;
  args.positions = &position;
  args.num_threads = 1;
  ASSERT_EQ(variant.launch(&args), 0);
}

// To nearest even by definition: scaled to the last place, rounded there, scaled back.
double rounded(Dtype dtype, float x) {
  const DtypeInfo& d = info(dtype);
  if (!std::isfinite(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x), d.min_exponent) - d.mantissa_bits;
  const double y = std::ldexp(std::nearbyint(std::ldexp(double{x}, -exponent)), exponent);
  const double limit = std::ldexp(1.0, d.max_exponent + 1);
  return std::fabs(y) >= limit ? std::copysign(INFINITY, y) : y;
}

double widened(Dtype dtype, uint16_t bits) {
  if (dtype == Dtype::kBF16) return std::bit_cast<float>(uint32_t{bits} << 16);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign *
         (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

// x = 1 and y = 0 turn by (c, 0) into (c, 0): the float32 c, rounded once.
void expect_rounded(const RopeVariant& variant, Dtype dtype, const std::vector<float>& values) {
  std::vector<uint16_t> data(2 * values.size());
  std::vector<float> table(2 * values.size());
  const auto one = static_cast<uint16_t>(dtype == Dtype::kBF16 ? 0x3f80 : 0x3c00);
  for (size_t i = 0; i < values.size(); ++i) {
    data[2 * i] = one;
    table[i] = values[i];
  }
  run(variant, dtype, &data, table);
  for (size_t i = 0; i < values.size(); ++i) {
    const double want = rounded(dtype, values[i]);
    const double got = widened(dtype, data[2 * i]);
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
        << info(dtype).name << ' ' << values[i] << ": got " << got << ", want " << want;
  }
}

TEST_P(CpuRounding, ToNearestEven) {
  std::vector<float> values = {0.0f,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::infinity(),
                               65504.0f,
                               65519.99f,
                               65520.0f,
                               65536.0f,
                               0x1p-24f,
                               0x1p-25f,
                               0x1.8p-25f,
                               0x1.000002p-25f,
                               0x1.ffcp-15f,
                               0x1.ffep-15f,
                               0x1p-14f};
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    // Anything; the middle between two numbers of the type; that and a little more.
    for (const uint32_t end : {bits & 0xffff, 0x8000u, 0x8001u, 0x7fffu, 0x1000u, 0x1001u}) {
      values.push_back(std::bit_cast<float>((bits & 0xffff0000) | end));
    }
    // The same with exponents that f16 has.
    const auto exponent = static_cast<uint32_t>(95 + random() % 50) << 23;
    for (const uint32_t end : {bits & 0x1fff, 0x1000u, 0x1001u, 0x0fffu}) {
      values.push_back(std::bit_cast<float>((bits & 0x807fe000) | exponent | end));
    }
  }
  while (values.size() % 64 != 0) values.push_back(1);
  // NaNs that rounding as a number would make infinite, or zero.
  const uint32_t nans[] = {0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff};
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) values[i] = std::bit_cast<float>(nans[i % 4]);
  }
  values.insert(values.end(), 64, std::bit_cast<float>(nans[2]));
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    const size_t kStep = values.size() / 64;  // heads of several lengths, ends included
    for (size_t begin = 0; begin < values.size(); begin += kStep) {
      const auto from = values.begin() + static_cast<int64_t>(begin);
      expect_rounded(GetParam().variant, dtype, {from, from + static_cast<int64_t>(kStep)});
    }
  }
}

// Rotation by 0 is the identity for every number of the type; a NaN stays one, whatever its bits.
TEST_P(CpuRounding, IdentityForEveryNumber) {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    std::vector<uint16_t> data(2 * 65536);
    for (size_t i = 0; i < 65536; ++i) data[2 * i] = static_cast<uint16_t>(i);
    std::vector<float> table(2 * 65536, 0.0f);
    std::fill_n(table.begin(), 65536, 1.0f);
    run(GetParam().variant, dtype, &data, table);
    for (size_t i = 0; i < 65536; ++i) {
      const double want = widened(dtype, static_cast<uint16_t>(i));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(widened(dtype, data[2 * i]))) << i;
      } else {
        ASSERT_EQ(data[2 * i], i);
      }
    }
  }
}

// Infinity and NaN of f32 and its subnormal numbers go through arithmetic as they are.
TEST_P(CpuRounding, SpecialsOfF32) {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  std::vector<float> data = {inf, 1, -inf, 1, NAN, 1, 3 * tiny, 0};
  const std::vector<float> table = {0.5f, 0.5f, 0.5f, 1.0f, 0.5f, 0.5f, 0.5f, 0.0f};
  run(GetParam().variant, Dtype::kF32, &data, table);
  EXPECT_EQ(data[0], inf);
  EXPECT_EQ(data[1], inf);
  EXPECT_EQ(data[2], -inf);
  EXPECT_EQ(data[3], -inf);
  EXPECT_TRUE(std::isnan(data[4]) && std::isnan(data[5]));
  EXPECT_EQ(data[6], 3 * tiny);
}

}  // namespace
}  // namespace rope_bench::testing
