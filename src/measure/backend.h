// What a device must offer so that cases can be checked and timed on it. Two of them: cpu_backend,
// cuda_backend.
#ifndef ROPE_BENCH_SRC_MEASURE_BACKEND_H_
#define ROPE_BENCH_SRC_MEASURE_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel_api.h"
#include "src/case/result.h"
#include "src/measure/judge.h"
#include "src/measure/monitor.h"

namespace rope_bench {

struct Launch {
  const RopeVariant* variant = nullptr;  // null: nothing at all, for the floor
  RopeKernelArgs args{};
};

// A sequence of launches that is timed as one. On a GPU a graph.
class Window {
 public:
  virtual ~Window() = default;
};

// The same bytes of several sets: set i starts at base + i * stride.
struct SetRange {
  void* base = nullptr;
  size_t stride = 0;
  int sets = 0;
  size_t bytes = 0;
};

// Work is enqueued in order and may run later; synchronize() and whatever returns a value waits for
// it. Errors are DeviceError, but for memory: OutOfMemory.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual std::span<const RopeVariant> variants() const = 0;
  virtual std::span<const RopeVariant> limits() const = 0;
  virtual bool is_host() const = 0;  // its memory is the host's
  virtual void* stream() const = 0;
  virtual int num_threads() const = 0;
  // Null where nothing watches the device.
  virtual DeviceMonitor* monitor() { return nullptr; }

  // Aligned to 256 bytes.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual size_t free_bytes() const = 0;
  // How much of the memory the sets of one case may take.
  virtual size_t set_budget() const = 0;

  virtual void upload(void* to, const void* from_host, size_t bytes) = 0;
  virtual void download(void* to_host, const void* from, size_t bytes) = 0;
  // Every set's bytes := source[0, bytes), or the repeated byte.
  virtual void replicate(const SetRange& to, const void* source) = 0;
  virtual void fill(const SetRange& to, uint8_t pattern) = 0;
  // Bytes of all sets that differ from source[0, bytes), or from the repeated byte. Waits.
  virtual int64_t count_differences(const SetRange& in, const void* source) = 0;
  virtual int64_t count_other_than(const SetRange& in, uint8_t pattern) = 0;
  // Reads four times the last-level cache of unrelated data.
  virtual void flush_cache() = 0;
  virtual void synchronize() = 0;

  virtual void launch(const Launch& launch) = 0;
  virtual std::unique_ptr<Window> record(const std::vector<Launch>& launches) = 0;
  // Seconds from the start of the first launch to the end of the last, after all that was enqueued
  // before.
  virtual double time(Window& window) = 0;
  // One launch between two events (or clock readings), seconds. Empty ones too: their floor.
  virtual double time_isolated(const Launch& launch) = 0;
  // What the calling thread pays for one launch, seconds.
  virtual double host_cost(const Launch& launch) = 0;
  // One launch, marked for a profiler: on a GPU inside an NVTX range `rope-bench`, between
  // cudaProfilerStart and cudaProfilerStop. Waits.
  virtual void profile(const Launch& launch) = 0;
  // Number of units (judge.h) that are wrong.
  virtual int64_t judge(const JudgeArgs& args) = 0;
};

// Device memory with an owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Backend& backend, size_t bytes)
      : backend_(&backend), data_(backend.allocate(bytes)) {}
  ~DeviceMemory() { reset(); }
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  void reset() {
    if (data_ != nullptr) backend_->release(data_);
    data_ = nullptr;
  }

 private:
  Backend* backend_ = nullptr;
  void* data_ = nullptr;
};

class Runner;
// A runner of cases on a device; tests give it devices of their own.
std::unique_ptr<Runner> make_runner(std::unique_ptr<Backend> backend);

// The device of a choice, as Runner::open() has it.
struct DeviceChoice;
std::unique_ptr<Backend> open_backend(const DeviceChoice& choice, std::vector<std::string>* notes);

// Number of CUDA devices, 0 with the reason.
int count_cuda_devices(std::string* why_none);
std::string cuda_device_model(int index);

std::unique_ptr<Backend> make_cpu_backend();
// `index`: the CUDA device. Throws DeviceError if it cannot be used. `notes`: what is odd about it.
std::unique_ptr<Backend> make_cuda_backend(int index, std::vector<std::string>* notes);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_BACKEND_H_
