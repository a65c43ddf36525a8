// What each pairing means. The one place that knows: reference, kernels, names and lists derive
// from it.
#ifndef ROPE_BENCH_KERNELS_PAIRING_H_
#define ROPE_BENCH_KERNELS_PAIRING_H_

#include <cstdint>

#include "kernels/kernel_api.h"

#ifdef __CUDACC__
#define ROPE_PAIRING_FN __host__ __device__ constexpr
#else
#define ROPE_PAIRING_FN constexpr
#endif

namespace rope_bench {

enum class Pairing : int32_t { kNeox = ROPE_PAIRING_NEOX, kGptj = ROPE_PAIRING_GPTJ };

struct PairingInfo {
  Pairing pairing;
  const char* name;
  const char* summary;
};

inline constexpr PairingInfo kPairings[] = {
    {Pairing::kNeox, "neox", "pairs (i, i + r/2): first half with second half"},
    {Pairing::kGptj, "gptj", "pairs (2i, 2i + 1): adjacent; alias interleaved"},
};

constexpr const PairingInfo& info(Pairing pairing) { return kPairings[static_cast<int>(pairing)]; }

// Dims of pair i, relative to the first rotated dim: (x', y') = (x cos - y sin, y cos + x sin) with
// x at pair_first and y at pair_second.
ROPE_PAIRING_FN int32_t pair_first(Pairing pairing, int32_t i) {
  return pairing == Pairing::kNeox ? i : 2 * i;
}
ROPE_PAIRING_FN int32_t pair_second(Pairing pairing, int32_t i, int32_t rotary_dim) {
  return pairing == Pairing::kNeox ? i + rotary_dim / 2 : 2 * i + 1;
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_PAIRING_H_
