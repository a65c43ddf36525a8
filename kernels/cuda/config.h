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
  int heads = 1;             // of a thread, in the plain kernels: 1, or 2 with packets of 16 bytes
  bool prefetch = true;      // of the table rows
  int64_t chunk_tokens = 0;  // of one row of the grid; 0 if there are more than kMostHeads heads
  // In the plain kernels: how many blocks later, for each multiprocessor, the tensors are loaded
  // that a block brings into L2; 0: it does not.
  int ahead = 0;
};

// Which parts of an op a launch does: all of them when fused, one when not.
struct Stages {
  bool bias = true, norm = true, rotation = true;
};

// True if launches with packets of this size are right: every rotated half (neox) or row of pairs
// (gptj), and the pass-through dims where they are moved, divide into aligned packets, and so do
// bias, weights and table.
bool packet_fits(const RopeKernelArgs& args, const Stages& stages, int packet_bytes);

// The widest packet of at most `most` bytes that fits; 0 if none does.
int widest_packet(const RopeKernelArgs& args, const Stages& stages, int most = 16);

// Whether the dims that are not rotated are moved or changed.
bool moves_pass_through(const RopeKernelArgs& args, const Stages& stages);

// The configs of `fast`: of the plain kernels, and of the general ones.
VectorConfig plain_config(const RopeKernelArgs& args, const Stages& stages);
VectorConfig general_config(const RopeKernelArgs& args, const Stages& stages);
// One warp per head, packets as narrow as give each of its threads work.
VectorConfig per_head_config(const RopeKernelArgs& args, const Stages& stages);

int element_size(int32_t dtype);

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_CONFIG_H_
