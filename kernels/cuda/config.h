// What a launch of the vector kernels looks like: packet size, threads, blocks. Plain host code:
// the choice is tested without a GPU.
#ifndef ROPE_BENCH_KERNELS_CUDA_CONFIG_H_
#define ROPE_BENCH_KERNELS_CUDA_CONFIG_H_

#include <cstdint>

#include "kernels/kernel_api.h"

namespace rope_bench::device {

inline constexpr int kMostHeads = 32768;

struct VectorConfig {
  int packet_bytes = 0;      // 2, 4, 8 or 16; 0 if no packet fits
  int threads = 128;         // wanted per block
  bool prefetch = true;      // of the table rows
  int64_t chunk_tokens = 0;  // of one row of the grid; 0 if there are more than kMostHeads heads
};

// True if launches with packets of this size are right: every rotated half (neox) or row of pairs
// (gptj), and the pass-through dims out of place, divide into aligned packets, and the table can be
// read as these need.
bool packet_fits(const RopeKernelArgs& args, int packet_bytes);

// The widest packet that fits; 0 if none does.
int widest_packet(const RopeKernelArgs& args);

// The config of `fast`. Made with tests/gpu/tune_fast on an H200.
VectorConfig fast_config(const RopeKernelArgs& args);

int element_size(int32_t dtype);

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_CONFIG_H_
