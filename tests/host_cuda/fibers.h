// Cooperative threads of one block: each runs until it ends or waits, then the next one does.
#ifndef ROPE_BENCH_TESTS_HOST_CUDA_FIBERS_H_
#define ROPE_BENCH_TESTS_HOST_CUDA_FIBERS_H_

#include <cstddef>
#include <functional>

namespace rope_bench::host_cuda {

// Runs body(i) for i in [0, count) on fibers. Whenever every living fiber waits or has ended,
// on_all_waiting() is called; it releases waiting fibers (ready(i) becomes true) or throws.
class Fibers {
 public:
  // What fiber i says about itself: still running, waiting for others, or done.
  enum class State { kReady, kWaiting, kDone };

  virtual ~Fibers() = default;
  void run(size_t count, const std::function<void(size_t)>& body);

  // Called from inside a fiber: gives the turn away until the fiber is kReady again.
  void wait();
  size_t current() const { return current_; }

 protected:
  virtual void on_all_waiting() = 0;
  State state(size_t i) const;
  void set_ready(size_t i);

 private:
  size_t current_ = 0;
};

}  // namespace rope_bench::host_cuda

#endif  // ROPE_BENCH_TESTS_HOST_CUDA_FIBERS_H_
