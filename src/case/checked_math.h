// Products of shapes that may not fit 64 bits: computed in 128, brought back by saturation.
#ifndef ROPE_BENCH_SRC_CASE_CHECKED_MATH_H_
#define ROPE_BENCH_SRC_CASE_CHECKED_MATH_H_

#include <cstdint>
#include <limits>

namespace rope_bench {

__extension__ typedef __int128 Int128;

inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

// Products of at most two factors of 63 bits fit Int128; a third factor needs saturate() first.
constexpr bool fits64(Int128 value) {
  return value <= kMaxInt64 && value >= -Int128{kMaxInt64} - 1;
}

constexpr int64_t saturate(Int128 value) {
  if (value > kMaxInt64) return kMaxInt64;
  if (value < -Int128{kMaxInt64} - 1) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

// a * b and a + b, stuck at the ends of the range instead of wrapping round.
constexpr int64_t saturating_mul(int64_t a, int64_t b) { return saturate(Int128{a} * b); }
constexpr int64_t saturating_add(int64_t a, int64_t b) { return saturate(Int128{a} + b); }

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_CHECKED_MATH_H_
