// Element types as tags for overloads.
#ifndef ROPE_BENCH_KERNELS_CPU_ELEMENTS_H_
#define ROPE_BENCH_KERNELS_CPU_ELEMENTS_H_

#include <stdint.h>

namespace rope_bench {
namespace {

struct F32 {
  static constexpr int64_t kSize = 4;
};
struct F16 {
  static constexpr int64_t kSize = 2;
};
struct BF16 {
  static constexpr int64_t kSize = 2;
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ELEMENTS_H_
