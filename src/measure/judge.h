// A second, independent opinion on a launch: each element computed anew in double from the pristine
// input and compared on the device that ran the launch. It judges the timed launches, and is itself
// checked against the Eigen reference. Compiled for the host and, by nvcc, for the GPU.
#ifndef ROPE_BENCH_SRC_MEASURE_JUDGE_H_
#define ROPE_BENCH_SRC_MEASURE_JUDGE_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_api.h"
#include "kernels/pairing.h"

#ifdef __CUDACC__
#define ROPE_JUDGE_FN __host__ __device__ inline
#else
#define ROPE_JUDGE_FN inline
#endif

namespace rope_bench {

// Strides in elements, as in RopeTensor.
struct JudgeTensor {
  const void* in = nullptr;  // pristine
  const void* out = nullptr;
  int64_t in_token_stride = 0, in_head_stride = 0, out_token_stride = 0, out_head_stride = 0;
  int32_t num_heads = 0;
};

struct JudgeArgs {
  JudgeTensor q, k;
  const void* table = nullptr;  // [rows, rotary_dim]
  int32_t table_dtype = 0;
  int64_t table_row_stride = 0;
  const void* positions = nullptr;
  int64_t num_tokens = 0;
  int32_t position_bits = 32;
  int32_t head_dim = 0, rotary_dim = 0;
  int32_t dtype = 0, pairing = 0;
  int32_t repeats = 1;  // how often the launch was applied to the same data
};

// One unit is a pair or a pass-through element: rotary_dim / 2 + head_dim - rotary_dim of them per
// head.
ROPE_JUDGE_FN int64_t judge_units_per_head(const JudgeArgs& a) {
  return a.rotary_dim / 2 + (a.head_dim - a.rotary_dim);
}
ROPE_JUDGE_FN int64_t judge_units(const JudgeArgs& a) {
  return a.num_tokens * (a.q.num_heads + a.k.num_heads) * judge_units_per_head(a);
}

namespace judge {

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

struct Format {
  int mantissa, min_exponent, max_exponent;
};
ROPE_JUDGE_FN Format format_of(int32_t dtype) {
  if (dtype == ROPE_DTYPE_F16) return {10, -14, 15};
  if (dtype == ROPE_DTYPE_BF16) return {7, -126, 127};
  return {23, -126, 127};
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

// One coordinate: what it should be, and by how much it may differ.
struct Expected {
  double value, bound;
};

// a * c + b * s (s negated by the caller for the first of a pair), with the errors that a and b
// already have.
ROPE_JUDGE_FN Expected rotated(const Expected& a, double c, const Expected& b, double s,
                               const Format& f) {
  const double value = a.value * c + b.value * s;
  const double first = (fabs(a.value) + a.bound) * fabs(c),
               second = (fabs(b.value) + b.bound) * fabs(s);
  double bound = a.bound * fabs(c) + b.bound * fabs(s) +
                 2 * spacing(first > second ? first : second, 23, -126);
  // The result may be rounded up into the next binade: half an ULP of that.
  if (f.mantissa < 23) bound += 0.5 * spacing(fabs(value) + bound, f.mantissa, f.min_exponent);
  return {value, bound};
}

ROPE_JUDGE_FN bool agrees(const Expected& want, double got, const Format& f) {
  if (std::isnan(want.value)) return std::isnan(got);
  if (std::isinf(want.value)) return got == want.value;
  const double largest = (2 - power_of_two(-f.mantissa)) * power_of_two(f.max_exponent);
  const double last_step = power_of_two(f.max_exponent - f.mantissa);
  if (std::isinf(got))
    return fabs(want.value) + want.bound >= largest - last_step && (got > 0) == (want.value > 0);
  if (fabs(want.value) > largest)
    return fabs(got) == largest && fabs(want.value) <= largest + last_step + want.bound;
  return fabs(got - want.value) <= want.bound;
}

}  // namespace judge

// True if the element or pair is right.
ROPE_JUDGE_FN bool judge_unit(const JudgeArgs& a, int64_t index) {
  const int64_t per_head = judge_units_per_head(a);
  const int64_t heads = a.q.num_heads + a.k.num_heads;
  const int64_t unit = index % per_head;
  const int64_t item = index / per_head;
  const int64_t token = item / heads;
  int64_t head = item % heads;
  const bool is_q = head < a.q.num_heads;
  if (!is_q) head -= a.q.num_heads;
  const JudgeTensor& t = is_q ? a.q : a.k;
  const int64_t in = token * t.in_token_stride + head * t.in_head_stride;
  const int64_t out = token * t.out_token_stride + head * t.out_head_stride;
  const int32_t half = a.rotary_dim / 2;
  if (unit >= half) {
    const int64_t dim = a.rotary_dim + (unit - half);
    return judge::bits_at(t.in, a.dtype, in + dim) == judge::bits_at(t.out, a.dtype, out + dim);
  }
  const int64_t position = a.position_bits == 64 ? static_cast<const int64_t*>(a.positions)[token]
                                                 : static_cast<const int32_t*>(a.positions)[token];
  const int64_t row = position * a.table_row_stride;
  const double c = judge::widen(judge::bits_at(a.table, a.table_dtype, row + unit), a.table_dtype);
  const double s =
      judge::widen(judge::bits_at(a.table, a.table_dtype, row + half + unit), a.table_dtype);
  const auto pairing = static_cast<Pairing>(a.pairing);
  const int32_t first = pair_first(pairing, static_cast<int32_t>(unit));
  const int32_t second = pair_second(pairing, static_cast<int32_t>(unit), a.rotary_dim);
  const judge::Format format = judge::format_of(a.dtype);
  judge::Expected x{judge::widen(judge::bits_at(t.in, a.dtype, in + first), a.dtype), 0};
  judge::Expected y{judge::widen(judge::bits_at(t.in, a.dtype, in + second), a.dtype), 0};
  // The values stay exact from repeat to repeat; what the launches round is in the bounds.
  for (int32_t i = 0; i < a.repeats; ++i) {
    const judge::Expected new_x = judge::rotated(x, c, y, -s, format);
    const judge::Expected new_y = judge::rotated(y, c, x, s, format);
    x = new_x;
    y = new_y;
  }
  return judge::agrees(x, judge::widen(judge::bits_at(t.out, a.dtype, out + first), a.dtype),
                       format) &&
         judge::agrees(y, judge::widen(judge::bits_at(t.out, a.dtype, out + second), a.dtype),
                       format);
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_JUDGE_H_
