// Eight lanes: AVX2, FMA and F16C. Included by one translation unit; everything has internal
// linkage (see rows.h).
#ifndef ROPE_BENCH_KERNELS_CPU_SIMD_AVX2_H_
#define ROPE_BENCH_KERNELS_CPU_SIMD_AVX2_H_

#include <immintrin.h>
#include <stdint.h>

#include "kernels/cpu/elements.h"

namespace rope_bench {
namespace {

struct Simd {
  using Vec = __m256;
  static constexpr int64_t kWidth = 8;
  static constexpr int64_t kStreamAlignment = 32;

  static Vec load(F32, const char* from) {
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)));
  }
  static Vec load(F16, const char* from) { return _mm256_cvtph_ps(load_halves(from)); }
  static Vec load(BF16, const char* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_halves(from)), 16));
  }

  static void store(F32, char* to, Vec x) { store_block(to, _mm256_castps_si256(x)); }
  static void store(F16, char* to, Vec x) { store_halves(to, to_f16(x)); }
  static void store(BF16, char* to, Vec x) { store_halves(to, to_bf16(x)); }

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

  static void stream(F32, char* to, Vec x) { stream_block(to, _mm256_castps_si256(x)); }
  static void stream(F16, char* to, Vec x) { stream_halves(to, to_f16(x)); }
  static void stream(BF16, char* to, Vec x) { stream_halves(to, to_bf16(x)); }
  static void finish_stream() { _mm_sfence(); }

  static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  static Vec mul_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  static Vec mul_sub(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }
  static Vec swap_pairs(Vec x) { return _mm256_permute_ps(x, 0xb1); }

  // Plain bytes, for the limit kernels.
  using Block = __m256i;
  static constexpr int64_t kBlockBytes = sizeof(Block);
  static Block load_block(const char* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
  }
  static void store_block(char* to, Block x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), x);
  }
  static void stream_block(char* to, Block x) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), x);
  }
  // For all the compiler knows, x has changed: it must have been loaded and must be stored.
  static void keep(Block& x) { asm volatile("" : "+x"(x)); }

 private:
  static __m128i load_halves(const char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from));
  }
  static void store_halves(char* to, __m128i x) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), x);
  }
  static void stream_halves(char* to, __m128i x) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), x);
  }
  static __m128i to_f16(Vec x) {
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static __m128i to_bf16(Vec x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
    // Packing works within 128-bit lanes: the wanted quarters are 0 and 2.
    const __m256i packed = _mm256_packus_epi32(high, high);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0xd8));
  }
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SIMD_AVX2_H_
