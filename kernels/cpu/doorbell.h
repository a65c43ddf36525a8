// What a worker thread waits at between two jobs.
#ifndef ROPE_BENCH_KERNELS_CPU_DOORBELL_H_
#define ROPE_BENCH_KERNELS_CPU_DOORBELL_H_

#include <atomic>
#include <cstdint>

namespace rope_bench {

void pause_briefly();  // a few cycles, friendly to the core's other thread

// One waits, one at a time rings.
class Doorbell {
 public:
  void ring();
  // Until it has rung since `seen` was returned (0 at first): awake for a few microseconds, since
  // launches follow each other closely, then asleep.
  uint32_t wait(uint32_t seen);

 private:
  alignas(64) std::atomic<uint32_t> count_{0};  // rings, times two; bit 0: the waiter is asleep
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_DOORBELL_H_
