// Counter-based randomness: integers only, the same on every machine.
#ifndef ROPE_BENCH_SRC_MATH_HASH_H_
#define ROPE_BENCH_SRC_MATH_HASH_H_

#include <cstdint>

namespace rope_bench {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection in which every input bit
// changes every output bit with probability close to 1/2.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The step between the counters of neighbouring elements: 2^64 over the golden ratio, odd.
inline constexpr uint64_t kCounterStep = 0x9e3779b97f4a7c15u;

// A key that depends on all of its parts and on their order.
constexpr uint64_t combine(uint64_t key, uint64_t part) {
  return mix64(key + kCounterStep + mix64(part + kCounterStep));
}

// Uniform in [0, n) from the upper bits of a hash; n < 2^32.
constexpr uint32_t below(uint64_t hash, uint32_t n) {
  return static_cast<uint32_t>(((hash >> 32) * n) >> 32);
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_HASH_H_
