#include "kernels/cpu/check.h"

#include <algorithm>

#include "kernels/cpu/tuning.h"
#include "kernels/dtype.h"

namespace rope_bench {
int32_t why_not_streaming(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (const int32_t refused = why_not_rope(args, reason, reason_size)) return refused;
  if (!in_place(args->q) && !in_place(args->k)) return 0;
  return refuse(reason, reason_size, "streams out of place only");
}

int64_t row_bytes(const RopeKernelArgs& args) {
  const int64_t size = static_cast<int64_t>(info(static_cast<Dtype>(args.dtype)).size);
  return 2 * size * (all_in_place(args) ? args.rotary_dim : args.head_dim);
}

int64_t row_grain(const RopeKernelArgs& args) {
  return std::max<int64_t>(1, cpu_tuning().grain_bytes / row_bytes(args));
}

}  // namespace rope_bench
