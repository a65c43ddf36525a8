#include "kernels/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/cpu/doorbell.h"

namespace rope_bench {
namespace {

constexpr int kMaxThreads = 4096;
constexpr int kRangesPerThread = 32;  // small enough to even out a disturbed core

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// True in a thread that is running a body: a nested call must not wait for its own pool.
thread_local bool inside_body = false;

// One call of parallel_ranges(). Each slot owns a contiguous part, so that a core meets the same
// data again in the next call; a slot that is through helps the others.
struct Slot {
  alignas(64) std::atomic<int64_t> next{0};  // range to hand out
  int64_t end = 0;
};

struct Job {
  void (*body)(void*, int64_t, int64_t) = nullptr;
  void* context = nullptr;
  int64_t n = 0;
  int64_t range = 0;  // elements per range
  int slots = 0;
  int self = 0;     // place of the caller among the workers
  int first = 0;    // worker that has slot 0
  int workers = 0;  // workers are counted modulo this
  bool pin = false;
};

class Pool {
 public:
  static Pool& instance() {
    // Never destroyed: sleeping workers may outlive every static object.
    static Pool* pool = new Pool;
    return *pool;
  }

  // False if another thread holds the pool.
  bool try_run(int num_threads, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
               void* context) {
    bool free = false;
    if (!busy_.compare_exchange_strong(free, true, std::memory_order_acquire)) return false;
    prepare(num_threads, n, grain, body, context);
    state_.fetch_or(kOpen, std::memory_order_release);
    wake_next(job_.self);
    work(slot_of(job_.self));
    // No worker joins from here on; those that did are finishing their last range.
    state_.fetch_and(~kOpen, std::memory_order_acquire);
    for (int spins = 0; state_.load(std::memory_order_acquire) != 0; ++spins) {
      pause_briefly();
      // It may be waiting for this very core. Not sooner: on a busy machine that costs a time
      // slice.
      if (spins > 4000) sched_yield();
    }
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  // state_: the number of workers inside the job, and whether more may enter.
  static constexpr uint32_t kOpen = uint32_t{1} << 31;

  struct Worker {
    Doorbell bell;
    int index = 0;
    int core = -1;               // to be pinned to
    std::optional<bool> pinned;  // unknown at first: threads inherit the affinity of their maker
  };

  Pool() : cores_(allowed_cores()) {}

  int slot_of(int worker) const { return (worker - job_.first + job_.workers) % job_.workers; }

  // Fills job_. Worker i belongs to core i, and the caller stands in for that of its own core.
  void prepare(int num_threads, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
               void* context) {
    const int num_cores = static_cast<int>(cores_.size());
    const int64_t grains = (n + grain - 1) / grain;
    job_.body = body;
    job_.context = context;
    job_.n = n;
    job_.slots = static_cast<int>(std::min<int64_t>(num_threads, grains));
    job_.workers = std::max(num_cores, num_threads);
    job_.pin = num_threads == num_cores;
    const auto here = std::find(cores_.begin(), cores_.end(), sched_getcpu());
    job_.self = here == cores_.end() ? 0 : static_cast<int>(here - cores_.begin());
    job_.first = job_.slots == job_.workers ? 0 : job_.self;

    const int64_t parts = int64_t{job_.slots} * kRangesPerThread;
    const int64_t grains_per_range = (grains + parts - 1) / parts;
    job_.range = grains_per_range * grain;
    const int64_t ranges = (grains + grains_per_range - 1) / grains_per_range;
    if (num_slots_ < job_.slots) {
      slots_ = std::make_unique<Slot[]>(static_cast<size_t>(job_.slots));
      num_slots_ = job_.slots;
    }
    for (int i = 0; i < job_.slots; ++i) {
      slots_[i].next.store(ranges * i / job_.slots, std::memory_order_relaxed);
      slots_[i].end = ranges * (i + 1) / job_.slots;
    }
    if (workers_.size() < static_cast<size_t>(job_.workers)) {
      workers_.resize(static_cast<size_t>(job_.workers));
    }
  }

  void work(int slot) {
    inside_body = true;
    for (int i = 0; i < job_.slots; ++i) {
      Slot& part = slots_[(slot + i) % job_.slots];
      while (part.next.load(std::memory_order_relaxed) < part.end) {
        const int64_t range = part.next.fetch_add(1, std::memory_order_relaxed);
        if (range >= part.end) break;
        const int64_t begin = range * job_.range;
        job_.body(job_.context, begin, std::min(job_.n, begin + job_.range));
      }
    }
    inside_body = false;
  }

  // Each thread that joins wakes two more: a sleeper costs its waker microseconds.
  void wake_next(int worker) {
    const int rank = (slot_of(worker) - slot_of(job_.self) + job_.slots) % job_.slots;
    for (const int next : {2 * rank + 1, 2 * rank + 2}) {
      if (next >= job_.slots) return;
      const int slot = (slot_of(job_.self) + next) % job_.slots;
      wake((job_.first + slot) % job_.workers);
    }
  }

  void wake(int index) {
    Worker* worker = workers_[static_cast<size_t>(index)].get();
    worker != nullptr ? worker->bell.ring() : start(index);
  }

  // Where a thread cannot be had, its slot is worked off by the others.
  void start(int index) {
    auto worker = std::make_unique<Worker>();
    worker->index = index;
    const auto place = static_cast<size_t>(index);
    if (place < cores_.size()) worker->core = cores_[place];
    sigset_t all, before;
    sigfillset(&all);  // signals are the application's threads' business
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int rc = pthread_create(
        &thread, nullptr,
        [](void* arg) -> void* {
          Pool::instance().loop(static_cast<Worker*>(arg));
          return nullptr;
        },
        worker.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (rc != 0) return;
    pthread_detach(thread);
    workers_[place] = std::move(worker);
  }

  void loop(Worker* worker) {
    uint32_t seen = 0;
    for (;;) {
      join(worker);
      seen = worker->bell.wait(seen);
    }
  }

  // Takes part in the job that is open now.
  void join(Worker* worker) {
    uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if ((state & kOpen) == 0) return;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    // One that was woken for an earlier job may meet one without a slot for it, or one whose caller
    // has taken its place.
    const bool is_wanted = worker->index < job_.workers && worker->index != job_.self &&
                           slot_of(worker->index) < job_.slots;
    if (is_wanted) {
      wake_next(worker->index);
      if (worker->pinned != job_.pin) pin(worker, job_.pin);
      work(slot_of(worker->index));
    }
    state_.fetch_sub(1, std::memory_order_release);
  }

  void pin(Worker* worker, bool one_core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (one_core && worker->core >= 0) {
      CPU_SET(worker->core, &set);
    } else {
      for (int core : cores_) CPU_SET(core, &set);
    }
    sched_setaffinity(0, sizeof(set), &set);  // a refusal costs speed only
    worker->pinned = one_core;
  }

  const std::vector<int> cores_;
  std::atomic<bool> busy_{false};
  alignas(64) std::atomic<uint32_t> state_{0};
  Job job_;  // written while nobody is inside; so are the two below
  std::unique_ptr<Slot[]> slots_;
  int num_slots_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

int available_threads() {
  const size_t cores = allowed_cores().size();
  if (cores > 0) return static_cast<int>(cores);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void parallel_ranges(int num_threads, int64_t n, int64_t grain,
                     void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  num_threads = std::min(num_threads, kMaxThreads);
  const bool alone = num_threads <= 1 || n <= grain || inside_body;
  if (alone || !Pool::instance().try_run(num_threads, n, grain, body, context)) {
    body(context, 0, n);
  }
}

}  // namespace rope_bench
