// Launcher of variant `naive`.
#include "kernels/cuda/naive.cuh"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/launchers.h"

namespace rope_bench::device {
namespace {

constexpr int64_t kMostThreads = 512;

NaiveOperand operand_of(const RopeKernelArgs& args, const RopeTensor& tensor, bool is_v) {
  NaiveOperand o;
  o.operand = Operand::of(tensor, element_size(args.dtype), 0);
  o.offset = is_v ? 0 : tensor.rotary_offset;
  o.width = static_cast<int32_t>(is_v ? args.head_dim : head_width(args, tensor));
  o.rotates = !is_v;
  const bool changes = args.bias != nullptr || (!is_v && args.norm != ROPE_NORM_NONE);
  o.passes = !in_place(tensor) || changes;
  return o;
}

// Whether 32 bits hold the indices of a token's pairs, times the pairs of a head, and its offsets.
bool is_short(const RopeKernelArgs& args) {
  constexpr int64_t kMost = 0xffffffff;
  const int64_t half = args.rotary_dim / 2, size = element_size(args.dtype);
  for (const RopeTensor* t : {&args.q, &args.k, &args.v}) {
    const int64_t heads = t->num_heads, width = head_width(args, *t);
    if (heads * half * half > kMost) return false;
    for (const int64_t stride : {t->in_head_stride, t->out_head_stride}) {
      if (stride < 0 || stride > (kMost / size - width) / (heads + 1)) return false;
    }
  }
  return true;
}

}  // namespace

int32_t launch_naive(const RopeKernelArgs* args) {
  if (!has_work(*args, args->bias != nullptr)) return 0;
  NaiveParams p;
  p.q = operand_of(*args, args->q, false);
  p.k = operand_of(*args, args->k, false);
  p.v = operand_of(*args, args->v, true);
  p.tokens = TokenMap::of(*args);
  p.table = Table::of(*args);
  p.half_dim = Divisor::of(static_cast<uint32_t>(args->rotary_dim / 2));
  p.sine_flip = sine_flip_of(*args);
  p.norm = norm_params(*args);
  p.norm_row = args->norm == ROPE_NORM_ROW;
  p.bias = static_cast<const char*>(args->bias);
  p.head_dim = args->head_dim;
  const int32_t heads =
      args->q.num_heads > args->k.num_heads ? args->q.num_heads : args->k.num_heads;
  const int64_t pairs = static_cast<int64_t>(heads > 0 ? heads : 1) * (args->rotary_dim / 2);
  LaunchShape shape;
  shape.blocks = static_cast<uint64_t>(args->num_tokens);
  // Whole warps: they meet for a norm.
  shape.block_x =
      static_cast<uint32_t>(pairs < kMostThreads ? (pairs + 31) / 32 * 32 : kMostThreads);
  return dispatch(*args, [&](auto element, auto pairing) {
    return dispatch_table(*args, [&](auto source) {
      using T = decltype(element);
      constexpr Source kSource = decltype(source)::kValue;
      constexpr Pairing kPairing = decltype(pairing)::kValue;
      if (p.bias == nullptr && !p.norm.given && is_short(*args)) {
        return launch(rope_naive_kernel<T, kSource, kPairing, true>, shape, args->stream, p);
      }
      return launch(rope_naive_kernel<T, kSource, kPairing, false>, shape, args->stream, p);
    });
  });
}

int32_t why_not_naive(const RopeKernelArgs* args, char* reason, size_t reason_size) {
  if (why_not_any(args, true, reason, reason_size)) return 1;
  const int64_t heads =
      static_cast<int64_t>(args->q.num_heads) + args->k.num_heads + args->v.num_heads;
  if (heads * args->head_dim > 0x7fffffff) {
    return refuse(reason, reason_size, "a token of %lld elements: at most 2^31 - 1",
                  static_cast<long long>(heads * args->head_dim));
  }
  if (args->num_tokens > 0x7fffffff) {
    return refuse(reason, reason_size, "%lld tokens need more than 2^31 - 1 blocks",
                  static_cast<long long>(args->num_tokens));
  }
  return 0;
}

}  // namespace rope_bench::device
