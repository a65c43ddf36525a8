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

  static Vec load(F32, const char* from) {
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)));
  }
  static Vec load(F16, const char* from) { return _mm256_cvtph_ps(load_halves(from)); }
  static Vec load(BF16, const char* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_halves(from)), 16));
  }

  static void store(F32, char* to, Vec x) { store_block<false>(to, _mm256_castps_si256(x)); }
  static void store(F16, char* to, Vec x) { store_halves(to, narrow(F16{}, x)); }
  static void store(BF16, char* to, Vec x) { store_halves(to, narrow(BF16{}, x)); }

  // Two vectors, from and to neighbouring elements.
  template <typename E>
  static void load_two(E element, const char* from, Vec* a, Vec* b) {
    *a = load(element, from);
    *b = load(element, from + 8 * E::kSize);
  }
  template <bool kStream>
  static void store_two(F32, char* to, Vec a, Vec b) {
    store_block<kStream>(to, _mm256_castps_si256(a));
    store_block<kStream>(to + 32, _mm256_castps_si256(b));
  }
  template <bool kStream, typename E>
  static void store_two(E element, char* to, Vec a, Vec b) {
    store_block<kStream>(to, narrow_two(element, a, b));
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

  static void finish_stream() { _mm_sfence(); }

  static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  static Vec mul_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  static Vec mul_sub(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }
  // a b - c in even lanes, a b + c in odd ones.
  static Vec mul_sub_add(Vec a, Vec b, Vec c) { return _mm256_fmaddsub_ps(a, b, c); }
  static Vec swap_pairs(Vec x) { return _mm256_permute_ps(x, 0xb1); }
  // x0, x0, x1, x1, .. into 16 aligned places.
  static void store_twice(float* to, Vec x) {
    _mm256_store_ps(to, _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)));
    _mm256_store_ps(to + 8, _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7)));
  }

  // Plain bytes, for the limit kernels.
  using Block = __m256i;
  static constexpr int64_t kBlockBytes = sizeof(Block);
  static Block load_block(const char* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
  }
  template <bool kStream>  // past the caches; the address is a multiple of kBlockBytes
  static void store_block(char* to, Block x) {
    if constexpr (kStream) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to), x);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), x);
    }
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
  static __m128i narrow(F16, Vec x) {
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static __m128i narrow(BF16 element, Vec x) {
    return _mm256_castsi256_si128(narrow_two(element, x, x));
  }

  static __m256i narrow_two(F16 element, Vec a, Vec b) {
    return _mm256_set_m128i(narrow(element, b), narrow(element, a));
  }
  static __m256i narrow_two(BF16, Vec a, Vec b) {
    __m256i x = round_bf16(a), y = round_bf16(b);
    // One test for both, since there is hardly ever a NaN.
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0, 0)) {
      x = keep_nan(x, a);
      y = keep_nan(y, b);
    }
    const __m256i packed = _mm256_packus_epi32(_mm256_srli_epi32(x, 16), _mm256_srli_epi32(y, 16));
    return _mm256_permute4x64_epi64(packed, 0xd8);  // packing works within 128-bit lanes
  }

  // The upper half of each lane is the result, to nearest even.
  static __m256i round_bf16(Vec x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  }
  static __m256i keep_nan(__m256i rounded, Vec x) {
    const __m256i quiet = _mm256_or_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, quiet, nan);
  }
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SIMD_AVX2_H_
