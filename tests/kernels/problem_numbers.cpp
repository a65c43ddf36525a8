#include "tests/kernels/problem_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rope_bench::testing {

double widen(Dtype dtype, const std::byte* p) {
  if (dtype == Dtype::kF32) {
    float value;
    std::memcpy(&value, p, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  if (dtype == Dtype::kBF16) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(mantissa + 1024, exponent - 25);
}

void write_value(Dtype dtype, std::byte* p, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (dtype == Dtype::kF32) {
    std::memcpy(p, &bits, 4);
    return;
  }
  uint16_t half = static_cast<uint16_t>(bits >> 16);
  if (dtype == Dtype::kF16) {
    const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
    const int mantissa = static_cast<int>(bits >> 13 & 1023);
    int rest = 0;  // below the normal numbers
    if (exponent >= -14) rest = (exponent + 15) << 10 | mantissa;
    if (!std::isfinite(value)) rest = 0x7c00 | mantissa;
    half = static_cast<uint16_t>((half & 0x8000) | rest);
  }
  std::memcpy(p, &half, 2);
}

double spacing(Dtype dtype, double x) {
  const DtypeInfo& d = info(dtype);
  const int exponent = x == 0 ? d.min_exponent : std::max(d.min_exponent, std::ilogb(x));
  return std::ldexp(1.0, exponent - d.mantissa_bits);
}

double rounded(Dtype dtype, double x) {
  if (!std::isfinite(x) || x == 0) return x;
  const double unit = spacing(dtype, x);
  const double y = std::nearbyint(x / unit) * unit;
  const double limit = std::ldexp(1.0, info(dtype).max_exponent + 1);
  return std::fabs(y) >= limit ? std::copysign(INFINITY, y) : y;
}

long double frequency(int pair, int rotary_dim) {
  return std::pow(10000.0L, -2.0L * pair / rotary_dim);
}

uint64_t turns_of(long double frequency) {
  constexpr long double kTurn = 6.283185307179586476925286766559005768L;
  long double turns = frequency / kTurn;
  turns -= std::floor(turns);
  const long double units = std::nearbyint(std::ldexp(turns, 64));
  return units >= std::ldexp(1.0L, 64) ? 0 : static_cast<uint64_t>(units);
}

}  // namespace rope_bench::testing
