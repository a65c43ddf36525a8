#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/cpu/thread_pool.h"
#include "src/case/errors.h"
#include "src/measure/backend.h"
#include "src/measure/machine.h"

namespace rope_bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// While one exists the calling thread stays on the core it is on: workers of the pool are pinned to
// theirs, and the caller takes the place of the one of its own core. Within the affinity mask that
// it came with, which it gets back.
class PinnedCaller {
 public:
  PinnedCaller() {
    const int core = sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before_), &before_) != 0 ||
        !CPU_ISSET(core, &before_))
      return;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(core, &here);
    pinned_ = sched_setaffinity(0, sizeof(here), &here) == 0;
  }
  ~PinnedCaller() {
    if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  PinnedCaller(const PinnedCaller&) = delete;
  PinnedCaller& operator=(const PinnedCaller&) = delete;

 private:
  cpu_set_t before_;
  bool pinned_ = false;
};

class CpuWindow : public Window {
 public:
  explicit CpuWindow(const std::vector<Launch>& launches) : launches_(launches) {}
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  std::vector<Launch> launches_;
};

class CpuBackend : public Backend {
 public:
  CpuBackend() : threads_(available_threads()) {
    info_.device = "cpu";
    const CpuFacts facts = cpu_facts();
    info_.model = facts.model;
    info_.l2_bytes = facts.last_level_cache_bytes;
    info_.own_l2_bytes = facts.own_l2_bytes * threads_;
    info_.memory_bytes = facts.memory_bytes;
    // Starts every worker now, from a thread that is not pinned: they learn their cores from it.
    parallel_for(threads_, threads_, 1, [](int64_t, int64_t) {});
    info_.details = {{"threads", std::to_string(threads_)}, {"instructions", facts.instructions}};
  }

  const DeviceInfo& info() const override { return info_; }
  std::span<const RopeVariant> variants() const override {
    size_t count = 0;
    const RopeVariant* rows = rope_cpu_variants(&count);
    return {rows, count};
  }
  std::span<const RopeVariant> limits() const override {
    size_t count = 0;
    const RopeVariant* rows = rope_cpu_limits(&count);
    return {rows, count};
  }
  bool is_host() const override { return true; }
  void* stream() const override { return nullptr; }
  int num_threads() const override { return threads_; }

  void* allocate(size_t bytes) override {
    const size_t rounded = std::max<size_t>((bytes + 255) / 256 * 256, 256);
    if (rounded < bytes || rounded > free_bytes()) throw OutOfMemory("host memory");
    void* memory = std::aligned_alloc(256, rounded);
    if (memory == nullptr) throw OutOfMemory("host memory");
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  size_t free_bytes() const override { return available_memory_bytes(); }
  // Together with what flushing reads it stays well under 256 MiB on most machines. Two sets there
  // are always.
  size_t set_budget() const override {
    return std::min<size_t>(size_t{96} << 20, free_bytes() / 4);
  }

  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void replicate(const SetRange& to, const void* source) override {
    each_part(to, [&](std::byte* part, size_t offset, size_t bytes) {
      std::memcpy(part, static_cast<const std::byte*>(source) + offset, bytes);
    });
  }
  void fill(const SetRange& to, uint8_t pattern) override {
    each_part(to,
              [&](std::byte* part, size_t, size_t bytes) { std::memset(part, pattern, bytes); });
  }
  int64_t count_differences(const SetRange& in, const void* source) override {
    std::atomic<int64_t> count{0};
    each_part(in, [&](std::byte* part, size_t offset, size_t bytes) {
      const std::byte* want = static_cast<const std::byte*>(source) + offset;
      if (std::memcmp(part, want, bytes) == 0) return;
      for (size_t i = 0; i < bytes; ++i) count += part[i] != want[i] ? 1 : 0;
    });
    return count;
  }
  int64_t count_other_than(const SetRange& in, uint8_t pattern) override {
    std::atomic<int64_t> count{0};
    each_part(in, [&](std::byte* part, size_t, size_t bytes) {
      count += static_cast<int64_t>(bytes) - std::count(part, part + bytes, std::byte{pattern});
    });
    return count;
  }
  void flush_cache() override {
    const auto bytes = static_cast<int64_t>(4 * info_.l2_bytes);
    if (flush_.data() == nullptr) {
      flush_ = DeviceMemory(*this, static_cast<size_t>(bytes));
      fill({flush_.data(), 0, 1, static_cast<size_t>(bytes)}, 1);
    }
    std::atomic<uint64_t> sum{0};
    parallel_for(threads_, bytes, 1 << 16, [&](int64_t begin, int64_t end) {
      uint64_t part = 0;
      for (int64_t i = begin; i < end; i += 64) part += static_cast<uint64_t>(flush_.data()[i]);
      sum += part;
    });
  }
  void synchronize() override {}

  void launch(const Launch& launch) override {
    if (launch.variant != nullptr && launch.variant->launch(&launch.args) != 0) {
      throw DeviceError(std::string("cpu variant ") + launch.variant->name + " failed");
    }
  }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    return std::make_unique<CpuWindow>(launches);
  }
  double time(Window& window) override {
    const std::vector<Launch>& launches = static_cast<CpuWindow&>(window).launches();
    const PinnedCaller pinned;
    const Clock::time_point start = Clock::now();
    for (const Launch& one : launches) launch(one);
    return seconds_since(start);
  }
  double time_isolated(const Launch& one) override {
    const PinnedCaller pinned;
    const Clock::time_point start = Clock::now();
    launch(one);
    return seconds_since(start);
  }
  double host_cost(const Launch& one) override { return time_isolated(one); }

  void profile(const Launch& one) override { launch(one); }

  int64_t judge(const JudgeArgs& args) override {
    std::atomic<int64_t> wrong{0};
    parallel_for(threads_, judge_scale_units(args), 1 << 6, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) judge_scale(args, i);
    });
    parallel_for(threads_, judge_units(args), 1 << 14, [&](int64_t begin, int64_t end) {
      int64_t part = 0;
      for (int64_t i = begin; i < end; ++i) part += judge_unit(args, i) ? 0 : 1;
      wrong += part;
    });
    return wrong;
  }

 private:
  template <typename Fn>
  void each_part(const SetRange& to, Fn&& fn) {
    constexpr int64_t kPart = 1 << 20;
    for (int set = 0; set < to.sets; ++set) {
      std::byte* base = static_cast<std::byte*>(to.base) + static_cast<size_t>(set) * to.stride;
      parallel_for(threads_, static_cast<int64_t>(to.bytes), kPart,
                   [&](int64_t begin, int64_t end) {
                     fn(base + begin, static_cast<size_t>(begin), static_cast<size_t>(end - begin));
                   });
    }
  }

  int threads_;
  DeviceInfo info_;
  DeviceMemory flush_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace rope_bench
