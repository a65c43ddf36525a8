// The one door between kernels and CUDA. Kernels use what is declared here and nothing else of
// CUDA, so that the same source also runs on a host layer (include path <rope_host_cuda.h>) that
// stands in for blocks, threads, barriers and shuffles.
//
// * ROPE_KERNEL, ROPE_DEVICE, ROPE_ARGUMENT: how kernels and device functions are declared
// * thread_x() .. block_y(): who runs
// * sync_block(), shuffle_xor(), any_in_warp(), count_in_warp(), value_in_warp(): how threads meet;
//   every thread of the block, or of the warp, must come
// * sincos_fast(), inverse_sqrt(), nearest_integer(): the functions that kernels need
// * load(), store(): global memory, in packets of 2, 4, 8 or 16 bytes
// * prefetch(), peek_word(): hints, allowed before the launch before has ended
// * wait_for_previous_launch(), let_next_launch_start(): how overlapped launches meet
// * settle(): what is computed before a wait
// * launch(): how a kernel is started
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PLATFORM_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PLATFORM_CUH_

#include <cstdint>

#ifndef __CUDACC__
#include <rope_host_cuda.h>
#else

#include <cuda_runtime.h>

#include <atomic>

#define ROPE_KERNEL __global__
#define ROPE_DEVICE __device__ __forceinline__
// Before the type of a kernel's argument: it stays where the launch put it. Without, a reference to
// one of two members makes every thread copy it to its stack first.
#define ROPE_ARGUMENT const __grid_constant__
// At most this many registers: occupancy hides the latency of memory.
#define ROPE_MAX_REGISTERS(count) __maxnreg__(count)
// Aligned to the widest packet.
#define ROPE_SHARED(Type, array_name, count) __shared__ __align__(16) Type array_name[count]

namespace rope_bench::device {

ROPE_DEVICE uint32_t thread_x() { return threadIdx.x; }
ROPE_DEVICE uint32_t thread_y() { return threadIdx.y; }
ROPE_DEVICE uint32_t block_dim_x() { return blockDim.x; }
ROPE_DEVICE uint32_t block_dim_y() { return blockDim.y; }
ROPE_DEVICE uint32_t block_x() { return blockIdx.x; }
ROPE_DEVICE uint32_t block_y() { return blockIdx.y; }
ROPE_DEVICE uint32_t grid_dim_x() { return gridDim.x; }

ROPE_DEVICE void sync_block() { __syncthreads(); }
ROPE_DEVICE float shuffle_xor(float value, int distance) {
  return __shfl_xor_sync(0xffffffffu, value, distance);
}
ROPE_DEVICE bool any_in_warp(bool value) { return __any_sync(0xffffffffu, value) != 0; }
// In how many of its threads.
ROPE_DEVICE uint32_t count_in_warp(bool value) { return __popc(__ballot_sync(0xffffffffu, value)); }
// What one of its threads has, the same one for all.
ROPE_DEVICE uint32_t value_in_warp(uint32_t value, uint32_t lane) {
  return __shfl_sync(0xffffffffu, value, static_cast<int>(lane));
}

// Of an angle in [-pi, pi], by the special function unit: within 2^-21.
ROPE_DEVICE void sincos_fast(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
ROPE_DEVICE float inverse_sqrt(float x) { return rsqrtf(x); }
ROPE_DEVICE float nearest_integer(float x) { return rintf(x); }
ROPE_DEVICE float fused_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

// Programmatic dependent launch (compute capability 9.0 and up). An overlapped launch may start
// while the one before it still runs: its blocks are placed and its indices computed early.
// wait_for_previous_launch() returns when everything the previous launch wrote is visible. Without
// effect in ordinary launches.
ROPE_DEVICE void wait_for_previous_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
ROPE_DEVICE void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Asks the compiler to compute an address, or an offset, here and not where it is used: before a
// wait, not after it. The assembler may still sink it (tests/kernels/machine_code_test.py counts):
// where it does, a branch that looks at the address helps.
template <typename T>
ROPE_DEVICE void settle(T*& address) {
  asm volatile("" : "+l"(address));
}
ROPE_DEVICE void settle(uint32_t& offset) { asm volatile("" : "+r"(offset)); }

ROPE_DEVICE uint32_t mul_hi(uint32_t a, uint32_t b) { return __umulhi(a, b); }
ROPE_DEVICE uint64_t mul_hi(uint64_t a, uint64_t b) { return __umul64hi(a, b); }

// float32 -> storage, round to nearest even; NaN stays NaN. Two values in one word, the first in
// the low half.
ROPE_DEVICE uint32_t pack_f16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
ROPE_DEVICE uint32_t pack_bf16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
ROPE_DEVICE float f16_to_float(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
ROPE_DEVICE float float_from_bits(uint32_t bits) { return __uint_as_float(bits); }
ROPE_DEVICE uint32_t bits_of_float(float value) { return __float_as_uint(value); }
ROPE_DEVICE void atomic_add(uint64_t* counter, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(value));
}

}  // namespace rope_bench::device

#include "kernels/cuda/device/cuda_memory.cuh"

namespace rope_bench::device {

struct LaunchShape {
  uint64_t blocks = 0;    // x, at most 2^31 - 1
  uint32_t blocks_y = 1;  // at most 65535
  uint32_t block_x = 1, block_y = 1;
  bool overlap = false;  // the kernel calls wait_for_previous_launch()
};

// Of the current device, asked of the driver once per device; 0 where it does not answer.
template <cudaDeviceAttr kAttribute>
int device_attribute() {
  constexpr int kMaxDevices = 64;
  static std::atomic<int> known[kMaxDevices];  // 0: not asked yet
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMaxDevices) return 0;
  int value = known[device].load(std::memory_order_relaxed);
  if (value == 0) {
    if (cudaDeviceGetAttribute(&value, kAttribute, device) != cudaSuccess) return 0;
    known[device].store(value, std::memory_order_relaxed);
  }
  return value;
}
inline bool overlaps_launches() {
  return device_attribute<cudaDevAttrComputeCapabilityMajor>() >= 9;
}
inline uint32_t multiprocessors() {
  return static_cast<uint32_t>(device_attribute<cudaDevAttrMultiProcessorCount>());
}

// Starts `kernel` on `stream` (a cudaStream_t) with one argument; nothing for zero blocks. A
// cudaError_t.
template <typename Params>
int32_t launch(void (*kernel)(Params), const LaunchShape& shape, void* stream,
               const Params& params) {
  if (shape.blocks == 0) return cudaSuccess;
  if (shape.blocks > 0x7fffffffu) return cudaErrorInvalidConfiguration;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks), shape.blocks_y);
  config.blockDim = dim3(shape.block_x, shape.block_y);
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &overlap;
  config.numAttrs = shape.overlap && overlaps_launches() ? 1 : 0;
  void* arguments[] = {const_cast<Params*>(&params)};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
}

}  // namespace rope_bench::device

#endif  // __CUDACC__
#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PLATFORM_CUH_
