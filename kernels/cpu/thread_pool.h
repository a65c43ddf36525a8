// The worker threads of every CPU kernel, and of the host-side mathematics.
//
// Workers start when first needed and live as long as the process. The caller never waits for a
// worker that has not begun: what a late worker leaves undone, the others take over.
#ifndef ROPE_BENCH_KERNELS_CPU_THREAD_POOL_H_
#define ROPE_BENCH_KERNELS_CPU_THREAD_POOL_H_

#include <cstdint>
#include <type_traits>

namespace rope_bench {

// Cores this process may use (its affinity mask), at least 1.
int available_threads();

// Calls body(context, begin, end) over disjoint ranges that cover [0, n), on at most num_threads
// threads, the caller among them; a thread may be given several ranges. Returns when all are done.
// Ranges are multiples of `grain` long, but for the last; fewer than two grains wake nobody. Called
// from inside a body, or while another thread's call is running, everything runs on the caller.
// The body must not throw.
void parallel_ranges(int num_threads, int64_t n, int64_t grain,
                     void (*body)(void* context, int64_t begin, int64_t end), void* context);

// The same for a callable fn(begin, end).
template <typename Fn>
void parallel_for(int num_threads, int64_t n, int64_t grain, Fn&& fn) {
  using Callable = std::remove_reference_t<Fn>;
  parallel_ranges(
      num_threads, n, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<Callable*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_THREAD_POOL_H_
