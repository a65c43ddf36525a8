#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "kernels/cpu/thread_pool.h"

namespace rope_bench {
namespace {

std::vector<int> counts(int num_threads, int64_t n, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
  parallel_for(num_threads, n, grain, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(begin % grain, 0);
    EXPECT_TRUE(end == n || end % grain == 0);
    EXPECT_LT(begin, end);
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  return {seen.begin(), seen.end()};
}

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (const int num_threads : {1, 2, 3, 17}) {
    for (const int64_t n : {0, 1, 2, 3, 16, 17, 1000, 4097}) {
      for (const int64_t grain : {1, 2, 3, 64, 5000}) {
        EXPECT_EQ(counts(num_threads, n, grain), std::vector<int>(static_cast<size_t>(n), 1))
            << num_threads << ' ' << n << ' ' << grain;
      }
    }
  }
}

TEST(ThreadPool, LittleWorkStaysOnTheCaller) {
  int calls = 0;
  parallel_for(8, 64, 64, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 64);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, NoMoreThreadsThanAsked) {
  parallel_for(8, 64, 1, [](int64_t, int64_t) {});  // so that more than two workers exist
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int repeat = 0; repeat < 200; ++repeat) {
    threads.clear();
    parallel_for(2, 64, 1, [&](int64_t, int64_t) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    ASSERT_LE(threads.size(), 2u);
  }
}

// A worker that was woken for the last call and comes late must not join this one as a spare thread
// for the core that the caller has moved to.
TEST(ThreadPool, CallerMayMoveBetweenCores) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before)) cores.push_back(core);
  }
  const int num_threads = available_threads();
  parallel_for(num_threads, 64, 1, [](int64_t, int64_t) {});  // the pool learns of all cores
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (size_t repeat = 0; repeat < 3000; ++repeat) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[repeat % cores.size()], &one);
    sched_setaffinity(0, sizeof(one), &one);
    threads.clear();
    std::atomic<int64_t> sum{0};
    parallel_for(num_threads, 64, 1, [&](int64_t begin, int64_t end) {
      sum += end - begin;
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    ASSERT_EQ(sum, 64);
    ASSERT_LE(threads.size(), static_cast<size_t>(num_threads));
  }
  sched_setaffinity(0, sizeof(before), &before);
}

TEST(ThreadPool, WorkersDoTakePart) {
  std::atomic<bool> met{false};
  std::atomic<int> inside{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(2, 2, 1, [&](int64_t, int64_t) {
    if (++inside == 2) met = true;
    while (!met && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_TRUE(met);
}

TEST(ThreadPool, ResultsAreVisibleToTheCaller) {
  std::vector<int64_t> values(1000);
  for (int64_t repeat = 0; repeat < 2000; ++repeat) {
    parallel_for(4, 1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = repeat + i;
    });
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], repeat + i);
    if (repeat % 500 == 0) usleep(200);  // long enough for the workers to fall asleep
  }
}

TEST(ThreadPool, NestedCallsRunOnTheCallingThread) {
  std::atomic<int64_t> sum{0};
  parallel_for(4, 100, 1, [&](int64_t begin, int64_t end) {
    const std::thread::id self = std::this_thread::get_id();
    parallel_for(4, 10, 1, [&](int64_t from, int64_t to) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      sum += (end - begin) * (to - from);
    });
  });
  EXPECT_EQ(sum, 1000);
}

TEST(ThreadPool, ConcurrentCallersAllFinish) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 500; ++repeat) {
        parallel_for(3, 64, 4, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, int64_t{4} * 500 * 64);
}

TEST(ThreadPool, AtLeastOneCore) { EXPECT_GE(available_threads(), 1); }

}  // namespace
}  // namespace rope_bench
