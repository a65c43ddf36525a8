// Kernels whose time is known, and plain copies, for tests of the stopwatch.
#ifndef ROPE_BENCH_TESTS_GPU_SPIN_H_
#define ROPE_BENCH_TESTS_GPU_SPIN_H_

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_api.h"

namespace rope_bench::testing {

// Of the launches that follow: one thread that spins so many cycles of its SM's clock.
void set_spin_cycles(int64_t cycles);
// A variant's launch; takes the stream from the args and touches no buffer.
int32_t launch_spin(const RopeKernelArgs* args);

// Cycles per second of that clock now: both clocks of a GPU, the SM's and the global one in ns, are
// read at either end of a spin of about 20 ms. 0 if a call fails.
double spin_clock_hz(void* stream);

// to[0, bytes) := from, 16 bytes a thread. A cudaError_t.
int32_t launch_copy(void* to, const void* from, size_t bytes, void* stream);

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_GPU_SPIN_H_
