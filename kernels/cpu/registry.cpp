// The table of CPU variants. A new one is a row here.
#include "kernels/cpu/check.h"
#include "kernels/cpu/rope_fast.h"
#include "kernels/cpu/rope_naive.h"
#include "kernels/kernel_api.h"

namespace rope_bench {
namespace {

using WhyNot = int32_t (*)(const RopeKernelArgs*, char*, size_t);
using Launch = int32_t (*)(const RopeKernelArgs*);

constexpr RopeVariant row(const char* name, const char* summary, const char* source, WhyNot why_not,
                          Launch launch) {
  return {sizeof(RopeVariant),
          ROPE_OP_ROPE,
          ROPE_DEVICE_CPU,
          1,
          ROPE_PRECISION_FUSED,
          name,
          summary,
          source,
          why_not,
          launch};
}

constexpr RopeVariant kVariants[] = {
    row("naive", "scalar, pair by pair; threads share the tokens", "the definition", why_not_rope,
        launch_rope_naive),
    row("fast", "SIMD chosen at run time, cos and sin reused over heads; threads share the heads",
        "own", why_not_rope, launch_rope_fast),
};

constexpr RopeVariant kLimits[] = {
    row("copy", "SIMD copy; threads share the heads", "own", why_not_rope, launch_copy),
    row("copy_streamed", "the same with stores that bypass the caches", "own", why_not_streaming,
        launch_copy_streamed),
    row("copy_one_thread", "SIMD copy on the calling thread, for sizes that a wake-up would dwarf",
        "own", why_not_rope, launch_copy_one_thread),
};

}  // namespace
}  // namespace rope_bench

const RopeVariant* rope_cpu_variants(size_t* count) {
  *count = sizeof(rope_bench::kVariants) / sizeof(rope_bench::kVariants[0]);
  return rope_bench::kVariants;
}

const RopeVariant* rope_cpu_limits(size_t* count) {
  *count = sizeof(rope_bench::kLimits) / sizeof(rope_bench::kLimits[0]);
  return rope_bench::kLimits;
}
