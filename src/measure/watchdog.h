// Ends a run whose device does not come back, or does not let an interrupted run go.
#ifndef ROPE_BENCH_SRC_MEASURE_WATCHDOG_H_
#define ROPE_BENCH_SRC_MEASURE_WATCHDOG_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace rope_bench {

// Neither a CPU kernel nor a call of CUDA that waits for one can be told to stop, and to unwind the
// stack would wait for the device again (cudaFree does). So a thread of its own looks on. Once one
// operation lasts too long, the thread that waits for it is stopped for good, should it ever come
// back, and `give_up` has the process to itself: it reports what there is and ends the process.
class Watchdog {
 public:
  enum class Why { kTimeout, kInterrupted };

  // `interrupted` is polled from the watchdog's thread; `give_up` runs there and must not return.
  Watchdog(std::function<bool()> interrupted, std::function<void(Why)> give_up);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // How long one operation may last, from the next on.
  void set_timeout(double seconds);

  // While one exists, its thread is inside an operation. One at a time; null: nobody watches.
  class Watch {
   public:
    explicit Watch(Watchdog* dog);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog* dog_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  void look_on();

  const std::function<bool()> interrupted_;
  const std::function<void(Why)> give_up_;
  std::mutex mutex_;
  std::condition_variable wake_;
  double timeout_s_ = 60;
  bool inside_ = false, late_ = false, given_up_ = false, ends_ = false;
  Clock::time_point deadline_;
  std::thread thread_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_WATCHDOG_H_
