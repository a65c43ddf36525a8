#include "kernels/cpu/rope_fast.h"

#include "kernels/cpu/check.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tuning.h"

namespace rope_bench {
namespace {

void run(const RopeKernelArgs& args, int num_threads, RowsFn rows) {
  parallel_for(num_threads, args.num_tokens * heads_of(args), row_grain(args),
               [&args, rows](int64_t begin, int64_t end) { rows(args, begin, end); });
}

}  // namespace

int32_t launch_rope_fast(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_rope(args, nullptr, 0)) return refused;
  // In place, the lines that are stored to have just been loaded into the caches.
  const bool stream =
      !in_place(args->q) && !in_place(args->k) &&
      args->num_tokens * heads_of(*args) * row_bytes(*args) >= cpu_tuning().stream_from_bytes;
  const auto& of_pairing = isa_kernels().rotate[args->dtype][args->pairing];
  run(*args, args->num_threads, of_pairing[stream ? kStreamed : kCached]);
  return 0;
}

int32_t launch_copy(const RopeKernelArgs* args) {
  run(*args, args->num_threads, isa_kernels().copy[kCached]);
  return 0;
}

int32_t launch_copy_streamed(const RopeKernelArgs* args) {
  run(*args, args->num_threads, isa_kernels().copy[kStreamed]);
  return 0;
}

int32_t launch_copy_one_thread(const RopeKernelArgs* args) {
  run(*args, 1, isa_kernels().copy[kCached]);
  return 0;
}

}  // namespace rope_bench
