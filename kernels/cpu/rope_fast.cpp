#include "kernels/cpu/rope_fast.h"

#include "kernels/cpu/check.h"
#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tuning.h"
#include "kernels/dtype.h"

namespace rope_bench {
namespace {

int64_t element_size(const RopeKernelArgs& args) {
  return static_cast<int64_t>(info(static_cast<Dtype>(args.dtype)).size);
}

// Whether every row of the output, and the part of it at byte `inner`, begins where a streamed
// store may.
bool is_aligned(const RopeTensor& x, int64_t num_tokens, int64_t size, int64_t alignment) {
  int64_t bits = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x.out));
  if (num_tokens > 1) bits |= x.out_token_stride * size;
  if (x.num_heads > 1) bits |= x.out_head_stride * size;
  return bits % alignment == 0;
}

bool can_stream(const RopeKernelArgs& args, int64_t inner) {
  const int64_t alignment = isa_kernels().stream_alignment;
  if (in_place(args.q) || in_place(args.k) || inner % alignment != 0) return false;
  return is_aligned(args.q, args.num_tokens, element_size(args), alignment) &&
         is_aligned(args.k, args.num_tokens, element_size(args), alignment);
}

void run(const RopeKernelArgs& args, int num_threads, RowsFn rows) {
  parallel_for(num_threads, args.num_tokens * heads_of(args), row_grain(args),
               [&args, rows](int64_t begin, int64_t end) { rows(args, begin, end); });
}

}  // namespace

int32_t launch_rope_fast(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_rope(args, nullptr, 0)) return refused;
  const int64_t rows = args->num_tokens * heads_of(*args);
  // Parts of a row begin at the second half (neox) and at the pass-through dims.
  const int64_t size = element_size(*args);
  const int64_t inner =
      (args->pairing == ROPE_PAIRING_NEOX ? args->rotary_dim / 2 : args->rotary_dim) * size;
  const bool stream =
      rows * row_bytes(*args) >= cpu_tuning().stream_from_bytes && can_stream(*args, inner);
  const auto& of_pairing = isa_kernels().rotate[args->dtype][args->pairing];
  run(*args, args->num_threads, of_pairing[stream ? kStreamed : kCached]);
  return 0;
}

int32_t launch_copy(const RopeKernelArgs* args) {
  run(*args, args->num_threads, isa_kernels().copy[kCached]);
  return 0;
}

int32_t launch_copy_streamed(const RopeKernelArgs* args) {
  const bool stream = can_stream(*args, 0);
  run(*args, args->num_threads, isa_kernels().copy[stream ? kStreamed : kCached]);
  return 0;
}

int32_t launch_copy_one_thread(const RopeKernelArgs* args) {
  run(*args, 1, isa_kernels().copy[kCached]);
  return 0;
}

}  // namespace rope_bench
