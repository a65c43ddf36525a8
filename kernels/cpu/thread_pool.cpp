#include "kernels/cpu/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace rope_bench {

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void parallel_ranges(int num_threads, int64_t n, int64_t grain,
                     void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (n <= 0) return;
  const int64_t grains = (n + grain - 1) / grain;
  const int64_t workers = std::clamp<int64_t>(num_threads, 1, grains);
  const int64_t per_worker = (grains + workers - 1) / workers * grain;
  std::vector<std::thread> threads;
  for (int64_t begin = per_worker; begin < n; begin += per_worker) {
    threads.emplace_back(body, context, begin, std::min(n, begin + per_worker));
  }
  body(context, 0, std::min(n, per_worker));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace rope_bench
