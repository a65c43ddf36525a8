// Launchers of the simple mappings: naive and per_head.
#include "kernels/arguments.h"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/launchers.h"
#include "kernels/cuda/rope_naive.cuh"
#include "kernels/cuda/rope_per_head.cuh"

namespace rope_bench::device {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kHeadsPerBlock = 4;
constexpr int kNaiveThreads = 512;

bool copies_pass_through(const RopeKernelArgs& args) {
  return args.rotary_dim < args.head_dim && !all_in_place(args);
}

uint64_t per_head_blocks(const RopeKernelArgs& args) {
  const uint64_t items = static_cast<uint64_t>(args.num_tokens) *
                         static_cast<uint64_t>(args.q.num_heads + args.k.num_heads);
  return (items + kHeadsPerBlock - 1) / kHeadsPerBlock;
}

}  // namespace

int32_t launch_naive(const RopeKernelArgs* args) {
  NaiveParams p;
  const int size = element_size(args->dtype);
  p.q = Operand::of(args->q, size);
  p.k = Operand::of(args->k, size);
  p.table = TableRef::of(*args);
  p.half_dim = Divisor::of(static_cast<uint32_t>(args->rotary_dim / 2));
  p.head_dim = args->head_dim;
  p.rotary_dim = args->rotary_dim;
  p.copy_pass_through = copies_pass_through(*args);
  const int32_t heads =
      args->q.num_heads > args->k.num_heads ? args->q.num_heads : args->k.num_heads;
  const int64_t pairs = static_cast<int64_t>(heads > 0 ? heads : 1) * (args->rotary_dim / 2);
  LaunchShape shape;
  shape.blocks = static_cast<uint64_t>(args->num_tokens);
  shape.block_x = static_cast<uint32_t>(pairs < kNaiveThreads ? pairs : kNaiveThreads);
  return dispatch(*args, [&](auto element, auto table, auto pairing) {
    return launch(
        rope_naive_kernel<decltype(element), decltype(table)::kSize, decltype(pairing)::kPairing>,
        shape, args->stream, p);
  });
}

int32_t launch_per_head(const RopeKernelArgs* args) {
  PerHeadParams p;
  const int size = element_size(args->dtype);
  p.q = Operand::of(args->q, size);
  p.k = Operand::of(args->k, size);
  p.all_heads = Divisor::of(static_cast<uint32_t>(args->q.num_heads + args->k.num_heads));
  p.table = TableRef::of(*args);
  p.num_tokens = args->num_tokens;
  p.head_dim = args->head_dim;
  p.rotary_dim = args->rotary_dim;
  p.copy_pass_through = copies_pass_through(*args);
  LaunchShape shape;
  shape.blocks = per_head_blocks(*args);
  shape.block_x = kWarp;
  shape.block_y = kHeadsPerBlock;
  return dispatch(*args, [&](auto element, auto table, auto pairing) {
    return launch(
        rope_per_head_kernel<decltype(element), decltype(table)::kSize, decltype(pairing)::kPairing>,
        shape, args->stream, p);
  });
}

int32_t why_not_simple(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_rope(args, reason, reason_size)) return 1;
  const int64_t row = static_cast<int64_t>(args->q.num_heads + args->k.num_heads) * args->head_dim;
  if (row > 0x7fffffff) {
    return refuse(reason, reason_size, "a token of %lld elements: at most 2^31 - 1",
                  static_cast<long long>(row));
  }
  if (args->num_tokens > 0x7fffffff || per_head_blocks(*args) > 0x7fffffff) {
    return refuse(reason, reason_size, "%lld tokens need more than 2^31 - 1 blocks",
                  static_cast<long long>(args->num_tokens));
  }
  return 0;
}

}  // namespace rope_bench::device
