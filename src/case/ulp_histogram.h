// How many elements have an error of which size.
#ifndef ROPE_BENCH_SRC_CASE_ULP_HISTOGRAM_H_
#define ROPE_BENCH_SRC_CASE_ULP_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rope_bench {

// Errors in ULP, by powers of two: bin 0 is [0, 2^-6), bin i [2^(i - 7), 2^(i - 6)), the last one
// [2^10, infinity] and NaN.
struct UlpHistogram {
  static constexpr size_t kBins = 18;
  std::array<int64_t, kBins> counts{};

  // `ulps` is not negative.
  static size_t bin_of(double ulps) {
    const auto exponent = static_cast<int64_t>(std::bit_cast<uint64_t>(ulps) >> 52) - 1023;
    return static_cast<size_t>(std::clamp<int64_t>(exponent + 7, 0, kBins - 1));
  }
  // Where a bin begins.
  static double from(size_t bin) {
    return bin == 0 ? 0 : std::bit_cast<double>((bin - 7 + 1023) << 52);
  }

  void add(const UlpHistogram& other) {
    for (size_t i = 0; i < kBins; ++i) counts[i] += other.counts[i];
  }
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_ULP_HISTOGRAM_H_
