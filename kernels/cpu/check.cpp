#include "kernels/cpu/check.h"

#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/tuning.h"
#include "kernels/dtype.h"

namespace rope_bench {

int64_t row_bytes(const RopeKernelArgs& args) {
  const int64_t size = static_cast<int64_t>(info(static_cast<Dtype>(args.dtype)).size);
  const bool all_dims = !all_in_place(args) || changes_all_dims(args);
  return 2 * size * (all_dims ? args.head_dim : args.rotary_dim);
}

int64_t row_grain(const RopeKernelArgs& args) {
  return std::max<int64_t>(1, cpu_tuning().grain_bytes / row_bytes(args));
}

}  // namespace rope_bench
