// The table of CPU variants. A new one is a row here.
#include "kernels/cpu/check.h"
#include "kernels/cpu/fast.h"
#include "kernels/cpu/naive.h"
#include "kernels/kernel_api.h"

namespace rope_bench {
namespace {

using Launch = int32_t (*)(const RopeKernelArgs*);

template <int kOp, bool kUsesTable>
constexpr RopeVariant row(int32_t precision, const char* name, const char* summary,
                          const char* source, Launch launch) {
  return {sizeof(RopeVariant),
          kOp,
          ROPE_DEVICE_CPU,
          kUsesTable,
          precision,
          name,
          summary,
          source,
          why_not_op<kOp, kUsesTable>,
          launch};
}

template <int kOp>
constexpr RopeVariant naive() {
  return row<kOp, true>(ROPE_PRECISION_FUSED, "naive",
                        "scalar, element by element; threads share the tokens", "the definition",
                        launch_naive);
}
template <int kOp>
constexpr RopeVariant fast() {
  return row<kOp, true>(ROPE_PRECISION_FUSED, "fast",
                        "SIMD chosen at run time, cos and sin reused over heads; threads share the "
                        "heads",
                        "own", launch_fast);
}
template <int kOp>
constexpr RopeVariant on_the_fly() {
  return row<kOp, false>(ROPE_PRECISION_FUSED, "on_the_fly",
                         "fast without a table: cos and sin of fixed-point angles, once per token",
                         "own", launch_on_the_fly);
}
template <int kOp>
constexpr RopeVariant unfused() {
  return row<kOp, true>(ROPE_PRECISION_UNFUSED, "unfused",
                        "fast as separate passes: split and bias, norm, rotation in place", "own",
                        launch_unfused);
}

// Op rope and its gradient are a single step: nothing to fuse.
constexpr RopeVariant kVariants[] = {
    naive<ROPE_OP_ROPE>(),
    fast<ROPE_OP_ROPE>(),
    on_the_fly<ROPE_OP_ROPE>(),
    naive<ROPE_OP_SPLIT_ROPE>(),
    fast<ROPE_OP_SPLIT_ROPE>(),
    on_the_fly<ROPE_OP_SPLIT_ROPE>(),
    unfused<ROPE_OP_SPLIT_ROPE>(),
    naive<ROPE_OP_NORM_SPLIT_ROPE>(),
    fast<ROPE_OP_NORM_SPLIT_ROPE>(),
    on_the_fly<ROPE_OP_NORM_SPLIT_ROPE>(),
    unfused<ROPE_OP_NORM_SPLIT_ROPE>(),
    naive<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    fast<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    on_the_fly<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    unfused<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    naive<ROPE_OP_ROPE_BACKWARD>(),
    fast<ROPE_OP_ROPE_BACKWARD>(),
    on_the_fly<ROPE_OP_ROPE_BACKWARD>(),
    naive<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
    fast<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
    on_the_fly<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
    unfused<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
};

using WhyNot = int32_t (*)(const RopeKernelArgs*, char*, size_t);

constexpr RopeVariant limit(int op, const char* name, const char* summary, WhyNot why_not,
                            Launch launch) {
  return {sizeof(RopeVariant),
          op,
          ROPE_DEVICE_CPU,
          1,
          ROPE_PRECISION_FUSED,
          name,
          summary,
          "own",
          why_not,
          launch};
}
template <int kOp>
constexpr RopeVariant copy() {
  return limit(kOp, "copy", "SIMD copy; threads share the heads", why_not_limit<kOp>, launch_copy);
}
template <int kOp>
constexpr RopeVariant copy_streamed() {
  return limit(kOp, "copy_streamed", "the same with stores that bypass the caches",
               why_not_streaming<kOp>, launch_copy_streamed);
}
template <int kOp>
constexpr RopeVariant copy_one_thread() {
  return limit(kOp, "copy_one_thread",
               "SIMD copy on the calling thread, for sizes that a wake-up would dwarf",
               why_not_limit<kOp>, launch_copy_one_thread);
}

constexpr RopeVariant kLimits[] = {
    copy<ROPE_OP_ROPE>(),
    copy_streamed<ROPE_OP_ROPE>(),
    copy_one_thread<ROPE_OP_ROPE>(),
    copy<ROPE_OP_SPLIT_ROPE>(),
    copy_streamed<ROPE_OP_SPLIT_ROPE>(),
    copy_one_thread<ROPE_OP_SPLIT_ROPE>(),
    copy<ROPE_OP_NORM_SPLIT_ROPE>(),
    copy_streamed<ROPE_OP_NORM_SPLIT_ROPE>(),
    copy_one_thread<ROPE_OP_NORM_SPLIT_ROPE>(),
    copy<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    copy_streamed<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    copy_one_thread<ROPE_OP_VARLEN_SPLIT_ROPE>(),
    copy<ROPE_OP_ROPE_BACKWARD>(),
    copy_streamed<ROPE_OP_ROPE_BACKWARD>(),
    copy_one_thread<ROPE_OP_ROPE_BACKWARD>(),
    copy<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
    copy_streamed<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
    copy_one_thread<ROPE_OP_SPLIT_ROPE_BACKWARD>(),
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
