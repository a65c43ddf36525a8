// What every CPU kernel asks of its arguments.
#ifndef ROPE_BENCH_KERNELS_CPU_CHECK_H_
#define ROPE_BENCH_KERNELS_CPU_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"

namespace rope_bench {

// For a row of op kOp: another op is refused, and what is malformed.
template <int kOp, bool kUsesTable>
int32_t why_not_op(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (args->op != kOp) return refuse(reason, reason_size, "op %d is not op %d", args->op, kOp);
  return why_not_any(args, kUsesTable, reason, reason_size);
}
// The same for a limit kernel that stores past the caches: out of place only. A limit reads a table
// where there is one.
template <int kOp>
int32_t why_not_limit(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  return args->table == nullptr ? why_not_op<kOp, false>(args, reason, reason_size)
                                : why_not_op<kOp, true>(args, reason, reason_size);
}
template <int kOp>
int32_t why_not_streaming(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (const int32_t refused = why_not_limit<kOp>(args, reason, reason_size)) return refused;
  if (!any_in_place(*args)) return 0;
  return refuse(reason, reason_size, "streams out of place only");
}

// Bytes that a launch moves per (token, head) row, read and written.
int64_t row_bytes(const RopeKernelArgs& args);

// Rows per worker below which another thread costs more than it brings.
int64_t row_grain(const RopeKernelArgs& args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_CHECK_H_
