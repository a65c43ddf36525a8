// A device whose every operation is watched.
#ifndef ROPE_BENCH_SRC_MEASURE_WATCHED_BACKEND_H_
#define ROPE_BENCH_SRC_MEASURE_WATCHED_BACKEND_H_

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/measure/forwarding_backend.h"
#include "src/measure/watchdog.h"

namespace rope_bench {

// Everything that waits for the device, or runs a kernel, is one operation of `dog`. What is timed
// lies inside one, so that watching costs no sample anything.
class WatchedBackend : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  // Null, as at first: nobody watches.
  void watch_with(Watchdog* dog) { dog_ = dog; }

  void* allocate(size_t bytes) override {
    return watched([&] { return real().allocate(bytes); });
  }
  void release(void* memory) noexcept override {
    watched([&] { real().release(memory); });
  }
  void upload(void* to, const void* from, size_t bytes) override {
    watched([&] { real().upload(to, from, bytes); });
  }
  void download(void* to, const void* from, size_t bytes) override {
    watched([&] { real().download(to, from, bytes); });
  }
  void replicate(const SetRange& to, const void* source) override {
    watched([&] { real().replicate(to, source); });
  }
  void fill(const SetRange& to, uint8_t pattern) override {
    watched([&] { real().fill(to, pattern); });
  }
  int64_t count_differences(const SetRange& in, const void* source) override {
    return watched([&] { return real().count_differences(in, source); });
  }
  int64_t count_other_than(const SetRange& in, uint8_t pattern) override {
    return watched([&] { return real().count_other_than(in, pattern); });
  }
  void flush_cache() override {
    watched([&] { real().flush_cache(); });
  }
  void synchronize() override {
    watched([&] { real().synchronize(); });
  }
  void launch(const Launch& launch) override {
    watched([&] { real().launch(launch); });
  }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    return watched([&] { return real().record(launches); });
  }
  double time(Window& window) override {
    return watched([&] { return real().time(window); });
  }
  double time_isolated(const Launch& launch) override {
    return watched([&] { return real().time_isolated(launch); });
  }
  double host_cost(const Launch& launch) override {
    return watched([&] { return real().host_cost(launch); });
  }
  void profile(const Launch& launch) override {
    watched([&] { real().profile(launch); });
  }
  int64_t judge(const JudgeArgs& args) override {
    return watched([&] { return real().judge(args); });
  }

 private:
  template <typename Fn>
  std::invoke_result_t<Fn> watched(Fn&& operation) {
    const Watchdog::Watch watch(dog_);
    return operation();
  }

  Watchdog* dog_ = nullptr;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_WATCHED_BACKEND_H_
