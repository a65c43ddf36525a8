#include "src/math/numeric.h"

#include <cmath>
#include <cstring>

#include "src/math/convert.h"

namespace rope_bench {
namespace {

template <typename T>
T load(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <typename T>
void store(void* data, int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &value,
              sizeof(T));
}

// Bits of a half that holds `value` exactly, or of an infinity or a quiet NaN.
uint16_t half_bits(double value) {
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | 0x7c00);
  return static_cast<uint16_t>(
      Element<Dtype::kF16>::from_float(static_cast<float>(std::abs(value))) | sign);
}

}  // namespace

double ulp(Dtype dtype, double x) {
  switch (dtype) {
    case Dtype::kF32:
      return ulp_of<Dtype::kF32>(x);
    case Dtype::kF16:
      return ulp_of<Dtype::kF16>(x);
    default:
      return ulp_of<Dtype::kBF16>(x);
  }
}

double max_finite(Dtype dtype) {
  const DtypeInfo& type = info(dtype);
  return (2.0 - pow2(-type.mantissa_bits)) * pow2(type.max_exponent);
}

double round_to(Dtype dtype, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  // Both steps are exact but for the rounding itself: the spacing is a power of two.
  const double spacing = ulp(dtype, value);
  const double rounded = std::nearbyint(value / spacing) * spacing;
  return std::abs(rounded) > max_finite(dtype) ? std::copysign(INFINITY, value) : rounded;
}

double load_as_double(Dtype dtype, const void* data, int64_t index) {
  switch (dtype) {
    case Dtype::kF32:
      return load<float>(data, index);
    case Dtype::kF16:
      return Element<Dtype::kF16>::to_float(load<uint16_t>(data, index));
    default:
      return Element<Dtype::kBF16>::to_float(load<uint16_t>(data, index));
  }
}

void store_rounded(Dtype dtype, void* data, int64_t index, double value) {
  const double rounded = round_to(dtype, value);
  switch (dtype) {
    case Dtype::kF32:
      return store(data, index, static_cast<float>(rounded));
    case Dtype::kF16:
      return store(data, index, half_bits(rounded));
    default:
      // A quiet NaN keeps its upper half, so that truncation leaves a NaN.
      return store(
          data, index,
          static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(rounded)) >> 16));
  }
}

uint32_t load_bits(Dtype dtype, const void* data, int64_t index) {
  return dtype == Dtype::kF32 ? load<uint32_t>(data, index) : load<uint16_t>(data, index);
}

}  // namespace rope_bench
