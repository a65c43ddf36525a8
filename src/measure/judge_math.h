// One number at a time, in double: what it should be after each step of an op, and by how much
// float32 arithmetic may miss it. For the host and, by nvcc, for the GPU.
#ifndef ROPE_BENCH_SRC_MEASURE_JUDGE_MATH_H_
#define ROPE_BENCH_SRC_MEASURE_JUDGE_MATH_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_api.h"
#include "src/math/error_model.h"

#ifdef __CUDACC__
#define ROPE_JUDGE_FN __host__ __device__ inline
#else
#define ROPE_JUDGE_FN inline
#endif

namespace rope_bench::judge {

ROPE_JUDGE_FN double power_of_two(int exponent) {
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// Spacing of numbers with `mantissa` explicit bits at |x|, that of the smallest normal number at
// least.
ROPE_JUDGE_FN double spacing(double x, int mantissa, int min_exponent) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  return power_of_two((exponent > min_exponent ? exponent : min_exponent) - mantissa);
}
ROPE_JUDGE_FN double spacing32(double x) { return spacing(x, 23, -126); }

struct Format {
  int mantissa, min_exponent, max_exponent;
};
ROPE_JUDGE_FN Format format_of(int32_t dtype) {
  if (dtype == ROPE_DTYPE_F16) return {10, -14, 15};
  if (dtype == ROPE_DTYPE_BF16) return {7, -126, 127};
  return {23, -126, 127};
}

ROPE_JUDGE_FN double largest_of(const Format& f) {
  return (2 - power_of_two(-f.mantissa)) * power_of_two(f.max_exponent);
}

ROPE_JUDGE_FN uint32_t bits_at(const void* data, int32_t dtype, int64_t i) {
  if (dtype == ROPE_DTYPE_F32) return static_cast<const uint32_t*>(data)[i];
  return static_cast<const uint16_t*>(data)[i];
}

ROPE_JUDGE_FN double widen(uint32_t bits, int32_t dtype) {
  if (dtype == ROPE_DTYPE_F16) {
    const int exponent = static_cast<int>(bits >> 10 & 31),
              mantissa = static_cast<int>(bits & 1023);
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31) return mantissa != 0 ? NAN : sign * HUGE_VAL;
    if (exponent == 0) return sign * mantissa * power_of_two(-24);
    return sign * (1024 + mantissa) * power_of_two(exponent - 25);
  }
  const uint32_t wide = dtype == ROPE_DTYPE_BF16 ? bits << 16 : bits;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}
ROPE_JUDGE_FN double number_at(const void* data, int32_t dtype, int64_t i) {
  return widen(bits_at(data, dtype, i), dtype);
}

// A number: what it should be, and by how much it may differ. `reach` is a difference from before
// that is accounted for elsewhere; it only makes numbers, and so their roundings, larger.
struct Expected {
  double value, bound, reach;
  bool beyond;  // something left float32's range on the way
};
ROPE_JUDGE_FN double most(const Expected& e) { return fabs(e.value) + e.bound + e.reach; }
ROPE_JUDGE_FN bool beyond_float32(double x) { return x > 0x1.fffffep127; }

ROPE_JUDGE_FN Expected biased(const Expected& e, double bias) {
  const double value = e.value + bias;
  const double size = fabs(value) + e.bound + e.reach;
  return {value, e.bound + 0.5 * spacing32(size), e.reach, e.beyond || beyond_float32(fabs(value))};
}

// Stored to memory. In float32 that rounds nothing: what made the number has rounded it.
ROPE_JUDGE_FN Expected rounded(const Expected& e, const Format& f) {
  if (f.mantissa == 23) return e;
  return {e.value, e.bound + 0.5 * spacing(most(e), f.mantissa, f.min_exponent), e.reach, e.beyond};
}

// The same between two steps: beyond the format's range the next step meets an infinity.
ROPE_JUDGE_FN Expected handed_on(const Expected& e, const Format& f) {
  Expected to = rounded(e, f);
  to.beyond = to.beyond || most(to) > largest_of(f);
  return to;
}

// `relative`: of the arithmetic and of the scale.
ROPE_JUDGE_FN Expected normed(const Expected& e, double scale, double factor, double relative) {
  const double by = scale * fabs(factor);
  return {e.value * scale * factor, (e.bound + most(e) * relative) * by + 4 * error_model::kTiny,
          e.reach * by, e.beyond};
}

// a * c + b * s (s negated by the caller for the first of a pair); `angle` per |a| + |b|.
ROPE_JUDGE_FN Expected rotated(const Expected& a, double c, const Expected& b, double s,
                               double angle) {
  const double first = most(a) * fabs(c), second = most(b) * fabs(s);
  const double product = first > second ? first : second;
  return {a.value * c + b.value * s,
          a.bound * fabs(c) + b.bound * fabs(s) + angle * (most(a) + most(b)) +
              error_model::kRotationUlps * spacing32(product),
          a.reach * fabs(c) + b.reach * fabs(s), a.beyond || b.beyond || beyond_float32(product)};
}

ROPE_JUDGE_FN bool agrees(const Expected& want, double got, const Format& f, bool has_norm) {
  if (std::isnan(want.value)) return std::isnan(got);
  if (want.beyond && !std::isfinite(got) && std::isfinite(want.value)) return true;
  if (want.beyond && has_norm && (got == 0 || std::isnan(got))) return true;
  if (std::isinf(want.value)) return got == want.value;
  const double largest = largest_of(f);
  const double last_step = power_of_two(f.max_exponent - f.mantissa);
  if (std::isinf(got))
    return fabs(want.value) + want.bound >= largest - last_step && (got > 0) == (want.value > 0);
  if (fabs(want.value) > largest)
    return fabs(got) == largest && fabs(want.value) <= largest + last_step + want.bound;
  return fabs(got - want.value) <= want.bound;
}

}  // namespace rope_bench::judge

#endif  // ROPE_BENCH_SRC_MEASURE_JUDGE_MATH_H_
