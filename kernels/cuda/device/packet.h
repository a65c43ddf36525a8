// A packet: the bytes that one thread moves with one instruction. Shared by the device and the host
// layer.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_PACKET_H_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_PACKET_H_

#include <cstdint>

namespace rope_bench::device {

template <int kBytes>
struct alignas(kBytes) Packet {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  static constexpr int kWords = kBytes / 4;
  uint32_t word[kWords];
};
template <>
struct alignas(2) Packet<2> {
  uint16_t half;
};

// How long a line is wanted. kKeep: ordinary caching. kStream: used once; loads do not allocate in
// L1, stores are the first to be evicted from L2.
enum class Hint { kKeep, kStream };

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_PACKET_H_
