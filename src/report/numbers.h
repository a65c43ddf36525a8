// Numbers as people read them. Independent of every locale.
#ifndef ROPE_BENCH_SRC_REPORT_NUMBERS_H_
#define ROPE_BENCH_SRC_REPORT_NUMBERS_H_

#include <cstdint>
#include <string>

#include "fmt/core.h"

namespace rope_bench {

// Four significant digits, never an exponent: 0.01234, 12.35, 1235, 123457.
std::string significant4(double value);

template <int kDigits>
std::string decimals(double value) {
  return fmt::format("{:.{}f}", value, kDigits);
}

// Fewest digits that read back as the same number.
std::string shortest(double value);

// "512 B", "16.4 kB", "4.29 GB"; 1 kB = 1000 B.
std::string human_bytes(int64_t bytes);

// "4 cases", "1 case".
std::string counted(size_t count, const std::string& noun);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_NUMBERS_H_
