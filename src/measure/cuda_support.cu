// clang-format 14 takes <<< apart.
// clang-format off
#include <cuda_runtime.h>

#include "src/measure/cuda_support.h"

namespace rope_bench::cuda_support {
namespace {

constexpr unsigned kThreads = 256;

// Enough blocks for `items`, within what a grid-stride loop needs to fill any GPU.
unsigned blocks_for(size_t items) {
  const size_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 16384 ? blocks : 16384);
}

__global__ void empty_kernel() {}

__device__ size_t global_thread() { return blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; }
__device__ size_t all_threads() { return gridDim.x * static_cast<size_t>(blockDim.x); }

// blockIdx.y: the set. Whole 16-byte words, then the rest byte by byte.
__global__ void replicate_kernel(char* base, size_t stride, const char* source, size_t bytes) {
  char* to = base + blockIdx.y * stride;
  const size_t words = bytes / 16;
  for (size_t i = global_thread(); i < words; i += all_threads()) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(source)[i];
  }
  const size_t rest = words * 16 + global_thread();
  if (rest < bytes) to[rest] = source[rest];
}

__global__ void fill_kernel(char* base, size_t stride, unsigned pattern, size_t bytes) {
  char* to = base + blockIdx.y * stride;
  const size_t words = bytes / 16;
  const uint4 value = {pattern, pattern, pattern, pattern};
  for (size_t i = global_thread(); i < words; i += all_threads()) reinterpret_cast<uint4*>(to)[i] = value;
  const size_t rest = words * 16 + global_thread();
  if (rest < bytes) to[rest] = static_cast<char>(pattern);
}

__device__ unsigned differing_bytes(unsigned a, unsigned b) { return __popc(__vcmpne4(a, b)) / 8; }

__global__ void count_differences_kernel(const char* base, size_t stride, const char* source, unsigned pattern,
                                         size_t bytes, unsigned long long* count) {
  const char* at = base + blockIdx.y * stride;
  // Guard bands begin anywhere: those few bytes are compared one by one.
  const size_t words = reinterpret_cast<uintptr_t>(at) % 16 == 0 ? bytes / 16 : 0;
  unsigned long long mine = 0;
  for (size_t i = global_thread(); i < words; i += all_threads()) {
    const uint4 got = reinterpret_cast<const uint4*>(at)[i];
    uint4 want = {pattern, pattern, pattern, pattern};
    if (source != nullptr) want = reinterpret_cast<const uint4*>(source)[i];
    mine += differing_bytes(got.x, want.x) + differing_bytes(got.y, want.y) + differing_bytes(got.z, want.z) +
            differing_bytes(got.w, want.w);
  }
  for (size_t i = words * 16 + global_thread(); i < bytes; i += all_threads()) {
    mine += at[i] != (source != nullptr ? source[i] : static_cast<char>(pattern)) ? 1 : 0;
  }
  if (mine != 0) atomicAdd(count, mine);
}

__global__ void read_kernel(const uint4* data, size_t words, uint32_t* sink) {
  uint32_t seen = 0;
  for (size_t i = global_thread(); i < words; i += all_threads()) {
    const uint4 value = data[i];
    seen |= value.x ^ value.y ^ value.z ^ value.w;
  }
  if (seen == 0x9e3779b9u) *sink = seen;  // the data is zeros: never true, but the compiler cannot know
}

__global__ void judge_scale_kernel(const JudgeArgs args, int64_t units) {
  for (int64_t i = static_cast<int64_t>(global_thread()); i < units; i += static_cast<int64_t>(all_threads())) {
    judge_scale(args, i);
  }
}

__global__ void judge_kernel(const JudgeArgs args, int64_t units, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (int64_t i = static_cast<int64_t>(global_thread()); i < units; i += static_cast<int64_t>(all_threads())) {
    if (!judge_unit(args, i)) ++mine;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace

int32_t empty(void* stream) {
  empty_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>();
  return cudaGetLastError();
}

int32_t replicate(void* base, size_t stride, int sets, const void* source, size_t bytes, void* stream) {
  if (sets == 0 || bytes == 0) return cudaSuccess;
  replicate_kernel<<<dim3(blocks_for(bytes / 16 + 16), sets), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<char*>(base), stride, static_cast<const char*>(source), bytes);
  return cudaGetLastError();
}

int32_t fill(void* base, size_t stride, int sets, uint8_t pattern, size_t bytes, void* stream) {
  if (sets == 0 || bytes == 0) return cudaSuccess;
  fill_kernel<<<dim3(blocks_for(bytes / 16 + 16), sets), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<char*>(base), stride, pattern * 0x01010101u, bytes);
  return cudaGetLastError();
}

int32_t count_differences(const void* base, size_t stride, int sets, const void* source, uint8_t pattern, size_t bytes,
                          unsigned long long* count, void* stream) {
  if (sets == 0 || bytes == 0) return cudaSuccess;
  count_differences_kernel<<<dim3(blocks_for(bytes / 16 + 16), sets), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const char*>(base), stride, static_cast<const char*>(source), pattern * 0x01010101u, bytes, count);
  return cudaGetLastError();
}

int32_t read_all(const void* data, size_t bytes, uint32_t* sink, void* stream) {
  read_kernel<<<blocks_for(bytes / 16), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const uint4*>(data), bytes / 16, sink);
  return cudaGetLastError();
}

int32_t judge(const JudgeArgs& args, unsigned long long* wrong, void* stream) {
  if (const int64_t spans = judge_scale_units(args); spans > 0) {
    judge_scale_kernel<<<blocks_for(static_cast<size_t>(spans)), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        args, spans);
  }
  const int64_t units = judge_units(args);
  if (units == 0) return cudaGetLastError();
  judge_kernel<<<blocks_for(static_cast<size_t>(units)), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      args, units, wrong);
  return cudaGetLastError();
}

}  // namespace rope_bench::cuda_support
