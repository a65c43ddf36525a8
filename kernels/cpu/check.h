// What every CPU kernel of op `rope` asks of its arguments.
#ifndef ROPE_BENCH_KERNELS_CPU_CHECK_H_
#define ROPE_BENCH_KERNELS_CPU_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"

namespace rope_bench {

// why_not_rope() for a limit kernel that stores past the caches: out of place only.
int32_t why_not_streaming(const RopeKernelArgs* args, char* reason, size_t reason_size);

// Bytes that a launch moves per (token, head) row, read and written.
int64_t row_bytes(const RopeKernelArgs& args);

// Rows per worker below which another thread costs more than it brings.
int64_t row_grain(const RopeKernelArgs& args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_CHECK_H_
