// clang-format 14 takes <<< apart.
// clang-format off
#include <cuda_runtime.h>

#include "tests/gpu/spin.h"

namespace rope_bench::testing {
namespace {

int64_t spin_cycles = 0;

__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void spin_kernel(long long cycles) { spin(cycles); }

__device__ unsigned long long global_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// out: cycles and nanoseconds between the first change of the global timer and the last: it may
// advance in steps of a microsecond.
__global__ void calibrate_kernel(long long cycles, long long* out) {
  unsigned long long first = global_ns();
  const unsigned long long before = first;
  while (first == before) first = global_ns();
  const long long start = clock64();
  spin(cycles);
  unsigned long long last = global_ns();
  const unsigned long long then = last;
  while (last == then) last = global_ns();
  out[0] = clock64() - start;
  out[1] = static_cast<long long>(last - first);
}

__global__ void copy_kernel(uint4* to, const uint4* from, size_t words) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < words) to[i] = from[i];
}

}  // namespace

void set_spin_cycles(int64_t cycles) { spin_cycles = cycles; }

int32_t launch_spin(const RopeKernelArgs* args) {
  spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(args->stream)>>>(spin_cycles);
  return cudaGetLastError();
}

double spin_clock_hz(void* stream) {
  long long* out = nullptr;
  if (cudaMalloc(&out, 2 * sizeof(*out)) != cudaSuccess) return 0;
  long long seen[2] = {0, 0};
  calibrate_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(40'000'000, out);
  const bool ok = cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) == cudaSuccess &&
                  cudaMemcpy(seen, out, sizeof(seen), cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(out);
  return ok && seen[1] > 0 ? static_cast<double>(seen[0]) / static_cast<double>(seen[1]) * 1e9 : 0;
}

int32_t launch_copy(void* to, const void* from, size_t bytes, void* stream) {
  const size_t words = bytes / 16;
  copy_kernel<<<static_cast<unsigned>((words + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<uint4*>(to), static_cast<const uint4*>(from), words);
  return cudaGetLastError();
}

}  // namespace rope_bench::testing
