// A host layer in the place of CUDA: runs a kernel's own source, block after block, with one fiber
// per thread, so that barriers and shuffles meet as they do on a device. For tests: small cases,
// under sanitizers.
//
// Stricter than a device: a barrier or shuffle that only part of the threads reach is an error that
// names them, and every access of a packet must be aligned to the packet.
#ifndef ROPE_BENCH_TESTS_HOST_CUDA_ROPE_HOST_CUDA_H_
#define ROPE_BENCH_TESTS_HOST_CUDA_ROPE_HOST_CUDA_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/cuda/device/packet.h"

#define ROPE_KERNEL
#define ROPE_DEVICE inline
#define ROPE_ARGUMENT const
#define ROPE_MAX_REGISTERS(count)
// Static: shared by the fibers of a block, which run on one thread. On the heap and of just its
// size, so that a sanitizer sees what is beyond. Filled with NaN when a block starts.
#define ROPE_SHARED(Type, array_name, count)                              \
  static Type* const array_name = new (std::align_val_t{16}) Type[count]; \
  ::rope_bench::host_cuda::shared_array(array_name, (count) * sizeof(*array_name))

namespace rope_bench::host_cuda {

struct Thread {
  uint32_t thread_x = 0, thread_y = 0;
  uint32_t block_dim_x = 1, block_dim_y = 1;
  uint32_t block_x = 0, block_y = 0, grid_dim_x = 1;
  bool has_waited = true;  // for the launch before
};
extern Thread current;

struct Shape {
  uint64_t blocks = 0;
  uint32_t blocks_y = 1;
  uint32_t block_x = 1, block_y = 1;
  bool overlap = false;
};

// Runs body() once per thread. Returns the first fault ("barrier reached by 3 of 4 threads in block
// 0"), or nothing.
std::string run_grid(const Shape& shape, const std::function<void()>& body);

void barrier();
float exchange(uint32_t lanes, float value, int distance);
void shared_array(void* data, size_t size);
// Reports a packet that is not aligned, and in an overlapped launch a thread that did not wait for
// the launch before.
void check_access(const void* p, int bytes);
// What threads load, and what they bring into L2, one after the other.
struct Access {
  uint32_t block_x, block_y;
  const char* at;
  int bytes;
  bool is_prefetch;
};
// From now on; null: no more.
void record_accesses(std::vector<Access>* accesses);
void accessed(const void* p, int bytes, bool is_prefetch);
// Whether what this launch peeks at is what is there.
bool hints_are_right();
void waited();

// The faults of all launches since the last call, one a line.
std::string take_faults();
void report_fault(const std::string& fault);

uint16_t round_to_f16(float value);
uint16_t round_to_bf16(float value);
float widen_f16(uint16_t bits);

}  // namespace rope_bench::host_cuda

namespace rope_bench::device {

inline uint32_t thread_x() { return host_cuda::current.thread_x; }
inline uint32_t thread_y() { return host_cuda::current.thread_y; }
inline uint32_t block_dim_x() { return host_cuda::current.block_dim_x; }
inline uint32_t block_dim_y() { return host_cuda::current.block_dim_y; }
inline uint32_t block_x() { return host_cuda::current.block_x; }
inline uint32_t block_y() { return host_cuda::current.block_y; }
inline uint32_t grid_dim_x() { return host_cuda::current.grid_dim_x; }
inline void sync_block() { host_cuda::barrier(); }
inline void wait_for_previous_launch() { host_cuda::waited(); }
inline void let_next_launch_start() {}
template <typename T>
void settle(T*& /*address*/) {}
inline void settle(uint32_t& /*offset*/) {}
inline float shuffle_xor(float value, int distance) {
  return host_cuda::exchange(0xffffffffu, value, distance);
}
inline uint32_t count_in_warp(bool value) {
  float count = value ? 1.0f : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2)
    count += host_cuda::exchange(0xffffffffu, count, distance);
  return static_cast<uint32_t>(count);
}
inline bool any_in_warp(bool value) { return count_in_warp(value) > 0; }
inline void sincos_fast(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float inverse_sqrt(float x) { return 1.0f / std::sqrt(x); }
inline float nearest_integer(float x) { return std::nearbyint(x); }
inline float fused_multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
inline uint32_t mul_hi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline uint64_t mul_hi(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(a) * b >> 64);
}
inline uint32_t pack_f16(float low, float high) {
  return host_cuda::round_to_f16(low) | static_cast<uint32_t>(host_cuda::round_to_f16(high)) << 16;
}
inline uint32_t pack_bf16(float low, float high) {
  return host_cuda::round_to_bf16(low) | static_cast<uint32_t>(host_cuda::round_to_bf16(high))
                                             << 16;
}
inline float f16_to_float(uint16_t bits) { return host_cuda::widen_f16(bits); }
inline float float_from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t bits_of_float(float value) { return std::bit_cast<uint32_t>(value); }
inline uint32_t value_in_warp(uint32_t value, uint32_t lane) {
  const uint32_t mine = (thread_y() * block_dim_x() + thread_x()) % 32;
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const float other =
        host_cuda::exchange(0xffffffffu, float_from_bits(value), static_cast<int>(distance));
    if (((mine ^ lane) & distance) != 0) value = bits_of_float(other);
  }
  return value;
}
inline void atomic_add(uint64_t* counter, uint64_t value) { *counter += value; }

template <int kBytes, Hint kHint>
Packet<kBytes> load(const void* p) {
  host_cuda::check_access(p, kBytes);
  host_cuda::accessed(p, kBytes, false);
  Packet<kBytes> v;
  std::memcpy(&v, p, kBytes);
  return v;
}
template <int kBytes>
Packet<kBytes> load_constant(const void* p) {
  return load<kBytes, Hint::kKeep>(p);
}
struct IntegerWords {
  uint32_t narrow, low, high;
  bool wide;
  int64_t value() const {
    return wide ? static_cast<int64_t>(low | uint64_t{high} << 32) : static_cast<int32_t>(narrow);
  }
};
inline IntegerWords load_integer_words(const void* p, bool wide) {
  if (!wide) return {load_constant<4>(p).word[0], 0, 0, false};
  const Packet<8> v = load_constant<8>(p);
  return {0, v.word[0], v.word[1], true};
}
inline uint32_t load_word_if(const void* p, bool wanted) {
  return wanted ? load_constant<4>(p).word[0] : 0;
}
template <Hint kHint, int kBytes>
void store(void* p, const Packet<kBytes>& v) {
  host_cuda::check_access(p, kBytes);
  std::memcpy(p, &v, kBytes);
}

// A prefetch touches nothing, but what it names must exist: the host layer reads a byte of it.
inline void prefetch(const void* p) {
  (void)*static_cast<const volatile char*>(p);
  host_cuda::accessed(p, 1, true);
}
// What is only a hint may be right or be anything: in every second launch, something else for every
// address.
inline uint32_t peek_word(const void* p) {
  uint32_t word;
  std::memcpy(&word, p, sizeof(word));
  if (host_cuda::hints_are_right()) return word;
  return word * 2654435761u + static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) >> 2);
}

using LaunchShape = host_cuda::Shape;

inline uint32_t multiprocessors() { return 1; }

template <typename Params>
int32_t launch(void (*kernel)(Params), const LaunchShape& shape, void* /*stream*/,
               const Params& params) {
  const std::string fault = host_cuda::run_grid(shape, [&] { kernel(params); });
  if (fault.empty()) return 0;
  host_cuda::report_fault(fault);
  return 719;  // cudaErrorLaunchFailure
}

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_TESTS_HOST_CUDA_ROPE_HOST_CUDA_H_
