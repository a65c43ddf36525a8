// Four lanes by the compilers' vector extension: SSE2 on x86-64, NEON on ARM, plain code elsewhere.
// Included by one translation unit; everything has internal linkage (see rows.h).
#ifndef ROPE_BENCH_KERNELS_CPU_SIMD_BASELINE_H_
#define ROPE_BENCH_KERNELS_CPU_SIMD_BASELINE_H_

#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kernels/cpu/elements.h"

namespace rope_bench {
namespace {

struct Simd {
  typedef float Vec __attribute__((vector_size(16)));
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef uint16_t Halves __attribute__((vector_size(8)));
  static constexpr int64_t kWidth = 4;

  static Vec load(F32, const char* from) { return read<Vec>(from); }
  static Vec load(F16, const char* from) {
    const Words half = __builtin_convertvector(read<Halves>(from), Words);
    const Words rest = half & 0x7fff;
    // Exponent bias 15 to 127 by a product: exact, and it normalises subnormal numbers. Infinity
    // and NaN then still lack the largest exponent.
    const Words finite = Words((Vec)(rest << 13) * 0x1p112f);
    const Words special = Words(rest >= 0x7c00) & 0x7f800000;
    return (Vec)(finite | special | (half & 0x8000) << 16);
  }
  static Vec load(BF16, const char* from) {
    return (Vec)(__builtin_convertvector(read<Halves>(from), Words) << 16);
  }

  static void store(F32, char* to, Vec x) { __builtin_memcpy(to, &x, sizeof(x)); }
  static void store(F16, char* to, Vec x) { write_halves(to, to_f16(x)); }
  static void store(BF16, char* to, Vec x) { write_halves(to, to_bf16(x)); }

  // Two vectors, from and to neighbouring elements.
  template <typename E>
  static void load_two(E element, const char* from, Vec* a, Vec* b) {
    *a = load(element, from);
    *b = load(element, from + 4 * E::kSize);
  }
  template <bool kStream>
  static void store_two(F32, char* to, Vec a, Vec b) {
    store_block<kStream>(to, (Words)a);
    store_block<kStream>(to + 16, (Words)b);
  }
  template <bool kStream>
  static void store_two(F16, char* to, Vec a, Vec b) {
    store_block<kStream>(to, join(to_f16(a), to_f16(b)));
  }
  template <bool kStream>
  static void store_two(BF16, char* to, Vec a, Vec b) {
    store_block<kStream>(to, join(to_bf16(a), to_bf16(b)));
  }

  template <typename E>
  static Vec load_part(E element, const char* from, int64_t count) {
    char buffer[sizeof(Vec)] = {};
    __builtin_memcpy(buffer, from, static_cast<size_t>(count * E::kSize));
    return load(element, buffer);
  }
  template <typename E>
  static void store_part(E element, char* to, Vec x, int64_t count) {
    char buffer[sizeof(Vec)];
    store(element, buffer, x);
    __builtin_memcpy(to, buffer, static_cast<size_t>(count * E::kSize));
  }

  static void finish_stream() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
  }

  static Vec mul(Vec a, Vec b) { return a * b; }
  static Vec mul_add(Vec a, Vec b, Vec c) { return a * b + c; }
  static Vec mul_sub(Vec a, Vec b, Vec c) { return a * b - c; }
  // a b - c in even lanes, a b + c in odd ones.
  static Vec mul_sub_add(Vec a, Vec b, Vec c) {
    return a * b + (Vec)((Words)c ^ Words{0x80000000, 0, 0x80000000, 0});
  }
  static Vec swap_pairs(Vec x) { return __builtin_shufflevector(x, x, 1, 0, 3, 2); }
  // x0, x0, x1, x1, .. into 8 places.
  static void store_twice(float* to, Vec x) {
    const Vec low = __builtin_shufflevector(x, x, 0, 0, 1, 1);
    const Vec high = __builtin_shufflevector(x, x, 2, 2, 3, 3);
    __builtin_memcpy(to, &low, sizeof(low));
    __builtin_memcpy(to + 4, &high, sizeof(high));
  }

  // Plain bytes, for the limit kernels.
  using Block = Words;
  static constexpr int64_t kBlockBytes = sizeof(Block);
  static Block load_block(const char* from) { return read<Block>(from); }
  template <bool kStream>  // past the caches; the address is a multiple of kBlockBytes
  static void store_block(char* to, Block x) {
#if defined(__SSE2__)
    if constexpr (kStream) return _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)x);
#endif
    __builtin_memcpy(to, &x, sizeof(x));
  }
  // For all the compiler knows, x has changed: it must have been loaded and must be stored.
  static void keep(Block& x) {
#if defined(__SSE2__)
    asm volatile("" : "+x"(x));
#elif defined(__aarch64__)
    asm volatile("" : "+w"(x));
#else
    asm volatile("" : "+m"(x));
#endif
  }

 private:
  template <typename T>
  static T read(const char* from) {
    T x;
    __builtin_memcpy(&x, from, sizeof(x));
    return x;
  }
  static void write_halves(char* to, Words x) {
    const Halves halves = __builtin_convertvector(x, Halves);
    __builtin_memcpy(to, &halves, sizeof(halves));
  }
  static Words join(Words a, Words b) {
    return (Words)__builtin_shufflevector(__builtin_convertvector(a, Halves),
                                          __builtin_convertvector(b, Halves), 0, 1, 2, 3, 4, 5, 6,
                                          7);
  }
  static Words select(Words mask, Words yes, Words no) { return (mask & yes) | (~mask & no); }

  static Words to_bf16(Vec x) {
    const Words bits = (Words)x;
    const Words rounded = bits + 0x7fff + (bits >> 16 & 1);
    return select((Words)(x != x), bits | 0x400000, rounded) >> 16;
  }
  static Words to_f16(Vec x) {
    const Words bits = (Words)x;
    const Words rest = bits & 0x7fffffff;
    Words half = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    // Subnormal: in the sum with 0.5 the last place is 2^-24, so the adder rounds.
    const Words tiny = (Words)((Vec)rest + 0.5f) - 0x3f000000;
    half = select((Words)(rest < 0x38800000), tiny, half);
    half = select((Words)(rest >= 0x477ff000), Words{} + 0x7c00, half);  // 65520: to infinity
    half = select((Words)(rest > 0x7f800000), 0x7e00 | (rest >> 13 & 0x3ff), half);
    return half | (bits >> 16 & 0x8000);
  }
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SIMD_BASELINE_H_
