// Formula    (x', y') = (x cos - y sin, y cos + x sin) for each pair (x, y) of a head, cos and sin
//            from row positions[t] of the table.
// Shapes     q [T, Hq, d], k [T, Hkv, d], any strides; the first r dims of a head rotate.
// Numbers    f32, f16 or bf16 in memory, float32 arithmetic, one rounding to nearest even.
// Mapping    a thread per range of tokens; head by head, pair by pair, scalar.
// Limits     rotary_offset 0.
// Bytes      rotated dims read and written once; pass-through dims only out of place.
// Source     the definition.
#include "kernels/cpu/rope_naive.h"

#include <cstring>
#include <initializer_list>

#include "kernels/cpu/check.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/scalar.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/pairing.h"

namespace rope_bench {
namespace {

float factor(const char* row, int32_t dtype, int64_t i) {
  switch (dtype) {
    case ROPE_DTYPE_F32:
      return load_unaligned<float>(row + i * 4);
    case ROPE_DTYPE_F16:
      return ScalarF16::widen(load_unaligned<uint16_t>(row + i * 2));
    default:
      return ScalarBF16::widen(load_unaligned<uint16_t>(row + i * 2));
  }
}

template <typename Scalar>
void rotate_head(const RopeKernelArgs& args, const char* row, const char* in, char* out) {
  constexpr int64_t kSize = sizeof(typename Scalar::Bits);
  const auto pairing = static_cast<Pairing>(args.pairing);
  const int32_t pairs = args.rotary_dim / 2;
  for (int32_t i = 0; i < pairs; ++i) {
    const int64_t first = pair_first(pairing, i) * kSize;
    const int64_t second = pair_second(pairing, i, args.rotary_dim) * kSize;
    const float c = factor(row, args.table_dtype, i);
    const float s = factor(row, args.table_dtype, int64_t{pairs} + i);
    const float x = Scalar::widen(load_unaligned<typename Scalar::Bits>(in + first));
    const float y = Scalar::widen(load_unaligned<typename Scalar::Bits>(in + second));
    store_unaligned(out + first, Scalar::narrow(x * c - y * s));
    store_unaligned(out + second, Scalar::narrow(y * c + x * s));
  }
  if (in != out) {
    const int64_t rotated = args.rotary_dim * kSize;
    std::memcpy(out + rotated, in + rotated, args.head_dim * kSize - rotated);
  }
}

template <typename Scalar>
void rotate_tokens(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  for (int64_t token = begin; token < end; ++token) {
    const char* row = table_row(args, token);
    for (const RopeTensor* x : {&args.q, &args.k}) {
      Heads heads = heads_at(*x, token, 0, x->num_heads, sizeof(typename Scalar::Bits));
      for (int64_t head = 0; head < heads.count; ++head) {
        rotate_head<Scalar>(args, row, heads.in + head * heads.in_stride,
                            heads.out + head * heads.out_stride);
      }
    }
  }
}

}  // namespace

int32_t launch_rope_naive(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_rope(args, nullptr, 0)) return refused;
  const int64_t heads = heads_of(*args);
  if (heads == 0) return 0;
  const int64_t grain = (row_grain(*args) + heads - 1) / heads;
  parallel_for(args->num_threads, args->num_tokens, grain, [args](int64_t begin, int64_t end) {
    switch (args->dtype) {
      case ROPE_DTYPE_F32:
        return rotate_tokens<ScalarF32>(*args, begin, end);
      case ROPE_DTYPE_F16:
        return rotate_tokens<ScalarF16>(*args, begin, end);
      default:
        return rotate_tokens<ScalarBF16>(*args, begin, end);
    }
  });
  return 0;
}

}  // namespace rope_bench
