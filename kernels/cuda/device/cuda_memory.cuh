// Global memory access in packets, with cache hints. Volatile: the limit kernels store what they
// loaded, and that must not be optimised away.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_CUDA_MEMORY_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_CUDA_MEMORY_CUH_

#include "kernels/cuda/device/packet.h"

namespace rope_bench::device {

#define ROPE_LOAD_16(op, p, v)                                                      \
  asm volatile(op ".v4.u32 {%0, %1, %2, %3}, [%4];"                                 \
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3]) \
               : "l"(p))
#define ROPE_LOAD_8(op, p, v) \
  asm volatile(op ".v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(p))
#define ROPE_LOAD_4(op, p, v) asm volatile(op ".u32 %0, [%1];" : "=r"(v.word[0]) : "l"(p))
#define ROPE_LOAD_2(op, p, v) asm volatile(op ".u16 %0, [%1];" : "=h"(v.half) : "l"(p))

// Tensors: may alias what this launch writes.
template <int kBytes, Hint kHint>
__device__ __forceinline__ Packet<kBytes> load(const void* p) {
  Packet<kBytes> v;
  if constexpr (kHint == Hint::kStream) {
    if constexpr (kBytes == 16) ROPE_LOAD_16("ld.global.L1::no_allocate", p, v);
    if constexpr (kBytes == 8) ROPE_LOAD_8("ld.global.L1::no_allocate", p, v);
    if constexpr (kBytes == 4) ROPE_LOAD_4("ld.global.L1::no_allocate", p, v);
    if constexpr (kBytes == 2) ROPE_LOAD_2("ld.global.L1::no_allocate", p, v);
  } else {
    if constexpr (kBytes == 16) ROPE_LOAD_16("ld.global", p, v);
    if constexpr (kBytes == 8) ROPE_LOAD_8("ld.global", p, v);
    if constexpr (kBytes == 4) ROPE_LOAD_4("ld.global", p, v);
    if constexpr (kBytes == 2) ROPE_LOAD_2("ld.global", p, v);
  }
  return v;
}

// Tables and positions: nothing writes them while a launch runs. The compiler may move such a load
// anywhere, even before the wait for the launch before; tests/kernels/machine_code_test.py sees
// that it has not.
template <int kBytes>
__device__ __forceinline__ Packet<kBytes> load_constant(const void* p) {
  Packet<kBytes> v;
  if constexpr (kBytes == 16) ROPE_LOAD_16("ld.global.nc", p, v);
  if constexpr (kBytes == 8) ROPE_LOAD_8("ld.global.nc", p, v);
  if constexpr (kBytes == 4) ROPE_LOAD_4("ld.global.nc", p, v);
  if constexpr (kBytes == 2) ROPE_LOAD_2("ld.global.nc", p, v);
  return v;
}

// An integer of 4 or 8 bytes on its way from memory: which of the words hold it is sorted out by
// whoever needs it. Predicated and not branched: what a branch loads is waited for before the
// branch ends, and with it the loads that follow; and each load has registers of its own, so that
// neither waits for the other.
struct IntegerWords {
  uint32_t narrow, low, high;
  bool wide;
  ROPE_DEVICE int64_t value() const {
    return wide ? static_cast<int64_t>(low | static_cast<uint64_t>(high) << 32)
                : static_cast<int64_t>(static_cast<int32_t>(narrow));
  }
};
__device__ __forceinline__ IntegerWords load_integer_words(const void* p, bool wide) {
  IntegerWords v;
  v.wide = wide;
  asm volatile(
      "{\n\t"
      ".reg .pred wide;\n\t"
      "setp.ne.u32 wide, %4, 0;\n\t"
      "@!wide ld.global.nc.u32 %0, [%3];\n\t"
      "@wide ld.global.nc.v2.u32 {%1, %2}, [%3];\n\t"
      "}"
      : "=r"(v.narrow), "=r"(v.low), "=r"(v.high)
      : "l"(p), "r"(static_cast<uint32_t>(wide)));
  return v;
}

// A word, or 0 unless it is wanted; predicated, as above.
__device__ __forceinline__ uint32_t load_word_if(const void* p, bool wanted) {
  uint32_t word;
  asm volatile(
      "{\n\t"
      ".reg .pred wanted;\n\t"
      "setp.ne.u32 wanted, %2, 0;\n\t"
      "mov.u32 %0, 0;\n\t"
      "@wanted ld.global.nc.u32 %0, [%1];\n\t"
      "}"
      : "=r"(word)
      : "l"(p), "r"(static_cast<uint32_t>(wanted)));
  return word;
}

// What a word holds now, or held: for hints only, while the launch before may still write it. Read
// from L2, so that no later load finds an old value in L1.
__device__ __forceinline__ uint32_t peek_word(const void* p) {
  uint32_t word;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(p));
  return word;
}

// Brings the line of p into L2, without waiting for it. L2 has one truth: that the launch before
// may still write there does no harm.
__device__ __forceinline__ void prefetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

#define ROPE_STORE_16(op, p, v)                                                               \
  asm volatile(op ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.word[0]), "r"(v.word[1]), \
               "r"(v.word[2]), "r"(v.word[3])                                                 \
               : "memory")
#define ROPE_STORE_8(op, p, v) \
  asm volatile(op ".v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.word[0]), "r"(v.word[1]) : "memory")
#define ROPE_STORE_4(op, p, v) asm volatile(op ".u32 [%0], %1;" ::"l"(p), "r"(v.word[0]) : "memory")
#define ROPE_STORE_2(op, p, v) asm volatile(op ".u16 [%0], %1;" ::"l"(p), "h"(v.half) : "memory")

template <Hint kHint, int kBytes>
__device__ __forceinline__ void store(void* p, const Packet<kBytes>& v) {
  if constexpr (kHint == Hint::kStream) {
    if constexpr (kBytes == 16) ROPE_STORE_16("st.global.cs", p, v);
    if constexpr (kBytes == 8) ROPE_STORE_8("st.global.cs", p, v);
    if constexpr (kBytes == 4) ROPE_STORE_4("st.global.cs", p, v);
    if constexpr (kBytes == 2) ROPE_STORE_2("st.global.cs", p, v);
  } else {
    if constexpr (kBytes == 16) ROPE_STORE_16("st.global", p, v);
    if constexpr (kBytes == 8) ROPE_STORE_8("st.global", p, v);
    if constexpr (kBytes == 4) ROPE_STORE_4("st.global", p, v);
    if constexpr (kBytes == 2) ROPE_STORE_2("st.global", p, v);
  }
}

#undef ROPE_LOAD_16
#undef ROPE_LOAD_8
#undef ROPE_LOAD_4
#undef ROPE_LOAD_2
#undef ROPE_STORE_16
#undef ROPE_STORE_8
#undef ROPE_STORE_4
#undef ROPE_STORE_2

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_CUDA_MEMORY_CUH_
