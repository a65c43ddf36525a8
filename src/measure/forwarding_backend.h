// A device that hands everything on to another one: base of those that change a little of it.
#ifndef ROPE_BENCH_SRC_MEASURE_FORWARDING_BACKEND_H_
#define ROPE_BENCH_SRC_MEASURE_FORWARDING_BACKEND_H_

#include <memory>
#include <utility>
#include <vector>

#include "src/measure/backend.h"

namespace rope_bench {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> real) : real_(std::move(real)) {}

  const DeviceInfo& info() const override { return real_->info(); }
  std::span<const RopeVariant> variants() const override { return real_->variants(); }
  std::span<const RopeVariant> limits() const override { return real_->limits(); }
  bool is_host() const override { return real_->is_host(); }
  void* stream() const override { return real_->stream(); }
  int num_threads() const override { return real_->num_threads(); }
  DeviceMonitor* monitor() override { return real_->monitor(); }
  void* allocate(size_t bytes) override { return real_->allocate(bytes); }
  void release(void* memory) noexcept override { real_->release(memory); }
  size_t free_bytes() const override { return real_->free_bytes(); }
  size_t set_budget() const override { return real_->set_budget(); }
  void upload(void* to, const void* from, size_t bytes) override { real_->upload(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override {
    real_->download(to, from, bytes);
  }
  void replicate(const SetRange& to, const void* source) override { real_->replicate(to, source); }
  void fill(const SetRange& to, uint8_t pattern) override { real_->fill(to, pattern); }
  int64_t count_differences(const SetRange& in, const void* source) override {
    return real_->count_differences(in, source);
  }
  int64_t count_other_than(const SetRange& in, uint8_t pattern) override {
    return real_->count_other_than(in, pattern);
  }
  void flush_cache() override { real_->flush_cache(); }
  void synchronize() override { real_->synchronize(); }
  void launch(const Launch& launch) override { real_->launch(launch); }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    return real_->record(launches);
  }
  double time(Window& window) override { return real_->time(window); }
  double time_isolated(const Launch& launch) override { return real_->time_isolated(launch); }
  double host_cost(const Launch& launch) override { return real_->host_cost(launch); }
  void profile(const Launch& launch) override { real_->profile(launch); }
  int64_t judge(const JudgeArgs& args) override { return real_->judge(args); }

 protected:
  Backend& real() { return *real_; }
  const Backend& real() const { return *real_; }

 private:
  std::unique_ptr<Backend> real_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_FORWARDING_BACKEND_H_
