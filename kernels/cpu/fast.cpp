#include "kernels/cpu/fast.h"

#include <algorithm>
#include <vector>

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

// Ops that neither add a bias nor take a norm.
void run_rotation(const RopeKernelArgs& args) {
  // In place, the lines that are stored to have just been loaded into the caches.
  const bool stream = !any_in_place(args) && args.num_tokens * heads_of(args) * row_bytes(args) >=
                                                 cpu_tuning().stream_from_bytes;
  const auto& of_pairing = isa_kernels().rotate[args.dtype][args.pairing];
  run(args, args.num_threads, of_pairing[stream ? kStreamed : kCached]);
}

// Whole tokens, since a norm may span all heads of one.
void run_transform(const RopeKernelArgs& args, int steps) {
  const int64_t heads = heads_of(args);
  if (heads == 0) return;
  const int64_t grain = std::max<int64_t>(1, row_grain(args) / heads) * heads;
  const TransformFn transform = isa_kernels().transform[args.dtype][args.pairing];
  parallel_for(args.num_threads, args.num_tokens * heads, grain, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> scratch;
    scratch.resize(static_cast<size_t>(args.head_dim + kScratchMargin));
    transform(args, begin, end, steps, scratch.data());
  });
}

int32_t launch_fused(const RopeKernelArgs& args) {
  if (changes_all_dims(args)) {
    run_transform(args, kAllSteps);
  } else {
    run_rotation(args);
  }
  return 0;
}

// The outputs of a launch, to be worked on in place by the next pass.
RopeKernelArgs in_place_on_outputs(const RopeKernelArgs& args) {
  RopeKernelArgs next = args;
  for (RopeTensor* x : {&next.q, &next.k}) {
    x->in = x->out;
    x->in_token_stride = x->out_token_stride;
    x->in_head_stride = x->out_head_stride;
    x->in_batch_stride = x->out_batch_stride;
  }
  next.in_batch_tokens = next.out_batch_tokens;
  next.v = RopeTensor{};
  next.bias = nullptr;
  return next;
}

}  // namespace

int32_t launch_fast(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_any(args, true, nullptr, 0)) return refused;
  return launch_fused(*args);
}

int32_t launch_on_the_fly(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_any(args, false, nullptr, 0)) return refused;
  RopeKernelArgs without_table = *args;
  without_table.table = nullptr;
  return launch_fused(without_table);
}

int32_t launch_unfused(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_any(args, true, nullptr, 0)) return refused;
  if (!has_value_tensor(*args)) return launch_fused(*args);  // of one step only
  if (!all_in_place(*args) || args->bias != nullptr) run_transform(*args, kStepBias);
  const RopeKernelArgs next = in_place_on_outputs(*args);
  RopeKernelArgs rotation = next;
  rotation.norm = ROPE_NORM_NONE;
  const bool norms = args->norm != ROPE_NORM_NONE;
  if (norms && args->norm_after == 0) run_transform(next, kStepNorm);
  run_rotation(rotation);
  if (norms && args->norm_after != 0) run_transform(next, kStepNorm);
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
