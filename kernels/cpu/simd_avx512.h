// Sixteen lanes: AVX-512 F, BW, VL and DQ, and BF16 where the translation unit may use it. Ends of
// rows go through masks. Everything has internal linkage (see rows.h).
#ifndef ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_
#define ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_

#include <immintrin.h>
#include <stdint.h>

#include "kernels/cpu/elements.h"

namespace rope_bench {
namespace {

// Indices of 16-bit elements: lane i takes element i, or i + 16, for its upper half; and the upper
// halves of two vectors one after the other.
alignas(64) constexpr uint16_t kWidenLow[32] = {0, 0,  0, 1,  0, 2,  0, 3,  0, 4, 0,
                                                5, 0,  6, 0,  7, 0,  8, 0,  9, 0, 10,
                                                0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
alignas(64) constexpr uint16_t kWidenHigh[32] = {0,  16, 0,  17, 0,  18, 0,  19, 0,  20, 0,
                                                 21, 0,  22, 0,  23, 0,  24, 0,  25, 0,  26,
                                                 0,  27, 0,  28, 0,  29, 0,  30, 0,  31};
alignas(64) constexpr uint16_t kUpperHalves[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                   23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                   45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

struct Simd {
  using Vec = __m512;
  static constexpr int64_t kWidth = 16;

  static Vec load(F32, const char* from) { return _mm512_loadu_ps(from); }
  static Vec load(F16, const char* from) { return widen(F16{}, load_halves(from)); }
  static Vec load(BF16, const char* from) { return widen(BF16{}, load_halves(from)); }

  // Two vectors, from and to neighbouring elements.
  static void load_two(F32, const char* from, Vec* a, Vec* b) {
    *a = load(F32{}, from);
    *b = load(F32{}, from + 64);
  }
  static void load_two(F16, const char* from, Vec* a, Vec* b) {
    *a = load(F16{}, from);
    *b = load(F16{}, from + 32);
  }
  static void load_two(BF16, const char* from, Vec* a, Vec* b) {
    // Each element into the upper half of its lane, in one instruction per vector.
    const __m512i halves = _mm512_loadu_si512(from);
    const __m512i i = _mm512_load_si512(kWidenLow);
    const __m512i j = _mm512_load_si512(kWidenHigh);
    *a = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, i, halves));
    *b = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaa, j, halves));
  }

  // Half a vector is an access of just that size: one under a mask counts as a whole one, and in
  // place it would wait for the stores next to it.
  static Vec load_part(F32, const char* from, int64_t count) {
    if (count == 8) {
      return _mm512_zextps256_ps512(_mm256_loadu_ps(reinterpret_cast<const float*>(from)));
    }
    return _mm512_maskz_loadu_ps(mask(count), from);
  }
  template <typename E>
  static Vec load_part(E element, const char* from, int64_t count) {
    if (count == 8) {
      const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from));
      return widen(element, _mm256_zextsi128_si256(half));
    }
    return widen(element, _mm256_maskz_loadu_epi16(mask(count), from));
  }

  static void store(F32, char* to, Vec x) { _mm512_storeu_ps(to, x); }
  template <typename E>
  static void store(E element, char* to, Vec x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), narrow(element, x));
  }

  template <bool kStream>
  static void store_two(F32, char* to, Vec a, Vec b) {
    store_block<kStream>(to, _mm512_castps_si512(a));
    store_block<kStream>(to + 64, _mm512_castps_si512(b));
  }
  template <bool kStream, typename E>
  static void store_two(E element, char* to, Vec a, Vec b) {
    store_block<kStream>(to, narrow_two(element, a, b));
  }

  static void store_part(F32, char* to, Vec x, int64_t count) {
    if (count == 8) {
      return _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm512_castps512_ps256(x));
    }
    _mm512_mask_storeu_ps(to, mask(count), x);
  }
  template <typename E>
  static void store_part(E element, char* to, Vec x, int64_t count) {
    const __m256i halves = narrow(element, x);
    if (count == 8) {
      return _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), _mm256_castsi256_si128(halves));
    }
    _mm256_mask_storeu_epi16(to, mask(count), halves);
  }

  static void finish_stream() { _mm_sfence(); }

  static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  static Vec mul_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  static Vec mul_sub(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }
  // a b - c in even lanes, a b + c in odd ones.
  static Vec mul_sub_add(Vec a, Vec b, Vec c) { return _mm512_fmaddsub_ps(a, b, c); }
  static Vec swap_pairs(Vec x) { return _mm512_permute_ps(x, 0xb1); }
  // x0, x0, x1, x1, .. into 32 aligned places.
  static void store_twice(float* to, Vec x) {
    const __m512i low = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    _mm512_store_ps(to, _mm512_permutexvar_ps(low, x));
    _mm512_store_ps(to + 16, _mm512_permutexvar_ps(high, x));
  }

  // Plain bytes, for the limit kernels.
  using Block = __m512i;
  static constexpr int64_t kBlockBytes = sizeof(Block);
  static Block load_block(const char* from) { return _mm512_loadu_si512(from); }
  template <bool kStream>  // past the caches; the address is a multiple of kBlockBytes
  static void store_block(char* to, Block x) {
    if constexpr (kStream) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), x);
    } else {
      _mm512_storeu_si512(to, x);
    }
  }
  // For all the compiler knows, x has changed: it must have been loaded and must be stored.
  static void keep(Block& x) { asm volatile("" : "+v"(x)); }

 private:
  static __mmask16 mask(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static __m256i load_halves(const char* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
  }
  static Vec widen(F16, __m256i x) { return _mm512_cvtph_ps(x); }
  static Vec widen(BF16, __m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }
  static __m256i narrow(F16, Vec x) {
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static __m256i narrow(BF16, Vec x) {
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i kept = _mm512_mask_mov_epi32(round_bf16(x), nan, quiet(x));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
  }

  static __m512i narrow_two(F16 element, Vec a, Vec b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(narrow(element, a)), narrow(element, b), 1);
  }
  static __m512i narrow_two(BF16, Vec a, Vec b) {
#if defined(__AVX512BF16__)
    // The conversion instruction is exact but for subnormal numbers, which it takes for zero.
    constexpr int kSubnormal = 0x20;
    const int any = _mm512_fpclass_ps_mask(a, kSubnormal) | _mm512_fpclass_ps_mask(b, kSubnormal);
    if (__builtin_expect(any == 0, 1)) return (__m512i)_mm512_cvtne2ps_pbh(b, a);
#endif
    __m512i x = round_bf16(a), y = round_bf16(b);
    // One test for both, since there is hardly ever a NaN.
    if (__builtin_expect(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0, 0)) {
      x = _mm512_mask_mov_epi32(x, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), quiet(a));
      y = _mm512_mask_mov_epi32(y, _mm512_cmp_ps_mask(b, b, _CMP_UNORD_Q), quiet(b));
    }
    return _mm512_permutex2var_epi16(x, _mm512_load_si512(kUpperHalves), y);
  }

  // The upper half of each lane is the result, to nearest even.
  static __m512i round_bf16(Vec x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    const __m512i up =
        _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
    return _mm512_add_epi32(bits, up);
  }
  static __m512i quiet(Vec nan) {
    return _mm512_or_si512(_mm512_castps_si512(nan), _mm512_set1_epi32(0x400000));
  }
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_
