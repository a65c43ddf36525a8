// Sixteen lanes: AVX-512 F, BW, VL and DQ. Ends of rows go through masks. Included by one
// translation unit; everything has internal linkage (see rows.h).
#ifndef ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_
#define ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_

#include <immintrin.h>
#include <stdint.h>

#include "kernels/cpu/elements.h"

namespace rope_bench {
namespace {

struct Simd {
  using Vec = __m512;
  static constexpr int64_t kWidth = 16;
  static constexpr int64_t kStreamAlignment = 64;

  static Vec load(F32, const char* from) { return _mm512_loadu_ps(from); }
  static Vec load(F16, const char* from) { return widen(F16{}, load_halves(from)); }
  static Vec load(BF16, const char* from) { return widen(BF16{}, load_halves(from)); }

  static Vec load_part(F32, const char* from, int64_t count) {
    return _mm512_maskz_loadu_ps(mask(count), from);
  }
  template <typename E>
  static Vec load_part(E element, const char* from, int64_t count) {
    return widen(element, _mm256_maskz_loadu_epi16(mask(count), from));
  }

  static void store(F32, char* to, Vec x) { _mm512_storeu_ps(to, x); }
  template <typename E>
  static void store(E element, char* to, Vec x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), narrow(element, x));
  }

  static void store_part(F32, char* to, Vec x, int64_t count) {
    _mm512_mask_storeu_ps(to, mask(count), x);
  }
  template <typename E>
  static void store_part(E element, char* to, Vec x, int64_t count) {
    _mm256_mask_storeu_epi16(to, mask(count), narrow(element, x));
  }

  static void stream(F32, char* to, Vec x) { _mm512_stream_ps(reinterpret_cast<float*>(to), x); }
  template <typename E>
  static void stream(E element, char* to, Vec x) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), narrow(element, x));
  }
  static void finish_stream() { _mm_sfence(); }

  static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  static Vec mul_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  static Vec mul_sub(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }
  static Vec swap_pairs(Vec x) { return _mm512_permute_ps(x, 0xb1); }

  // Plain bytes, for the limit kernels.
  using Block = __m512i;
  static constexpr int64_t kBlockBytes = sizeof(Block);
  static Block load_block(const char* from) { return _mm512_loadu_si512(from); }
  static void store_block(char* to, Block x) { _mm512_storeu_si512(to, x); }
  static void stream_block(char* to, Block x) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), x);
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
  // Not vcvtneps2bf16: that takes subnormal numbers for zero.
  static __m256i narrow(BF16, Vec x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i kept = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
  }
};

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_SIMD_AVX512_H_
