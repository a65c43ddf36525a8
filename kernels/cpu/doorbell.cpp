#include "kernels/cpu/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace rope_bench {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(20);

void futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  for (int i = 0; i < 4; ++i) __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void Doorbell::ring() {
  const uint32_t old = count_.load(std::memory_order_relaxed);
  // Only the waiter sets bit 0, perhaps just now, and rounding up to the next even number clears
  // it.
  const uint32_t before = count_.exchange((old | 1) + 1, std::memory_order_acq_rel);
  if (before & 1) futex(&count_, FUTEX_WAKE_PRIVATE, 1);
}

uint32_t Doorbell::wait(uint32_t seen) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 16; ++i) {
      const uint32_t now = count_.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() - start < kSpinTime);
  uint32_t now = seen;
  if (!count_.compare_exchange_strong(now, seen | 1, std::memory_order_acq_rel)) return now;
  do {
    futex(&count_, FUTEX_WAIT_PRIVATE, seen | 1);
    now = count_.load(std::memory_order_acquire);
  } while (now == (seen | 1));
  return now;
}

}  // namespace rope_bench
