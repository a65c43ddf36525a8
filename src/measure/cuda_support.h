// The few kernels that measuring itself needs. Each enqueues on `stream` and returns a cudaError_t.
#ifndef ROPE_BENCH_SRC_MEASURE_CUDA_SUPPORT_H_
#define ROPE_BENCH_SRC_MEASURE_CUDA_SUPPORT_H_

#include <cstddef>
#include <cstdint>

#include "src/measure/judge.h"

namespace rope_bench::cuda_support {

int32_t empty(void* stream);
// sets x bytes: set i at base + i * stride. Base, stride and source are multiples of 16 away from
// each other.
int32_t replicate(void* base, size_t stride, int sets, const void* source, size_t bytes,
                  void* stream);
int32_t fill(void* base, size_t stride, int sets, uint8_t pattern, size_t bytes, void* stream);
// Adds the number of bytes that differ from source, or where that is null from the pattern, to
// *count.
int32_t count_differences(const void* base, size_t stride, int sets, const void* source,
                          uint8_t pattern, size_t bytes, unsigned long long* count, void* stream);
// Reads all of it. `sink` is a word that is never written.
int32_t read_all(const void* data, size_t bytes, uint32_t* sink, void* stream);
// Adds the number of wrong units to *wrong.
int32_t judge(const JudgeArgs& args, unsigned long long* wrong, void* stream);

}  // namespace rope_bench::cuda_support

#endif  // ROPE_BENCH_SRC_MEASURE_CUDA_SUPPORT_H_
