#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "src/case/errors.h"
#include "src/measure/backend.h"
#include "src/measure/cuda_support.h"
#include "src/measure/nvml.h"

namespace rope_bench {
namespace {

void check(int error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  const auto code = static_cast<cudaError_t>(error);
  cudaGetLastError();  // not to be blamed on a later call
  throw DeviceError(std::string(call) + ": " + cudaGetErrorName(code) + ": " +
                    cudaGetErrorString(code) + " (" + file + ":" + std::to_string(line) + ")");
}
#define CHECK_CUDA(call) check((call), #call, __FILE__, __LINE__)

class Event {
 public:
  Event() { CHECK_CUDA(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class GraphWindow : public Window {
 public:
  explicit GraphWindow(cudaGraphExec_t graph) : graph_(graph) {}
  ~GraphWindow() override { cudaGraphExecDestroy(graph_); }
  cudaGraphExec_t graph() const { return graph_; }

 private:
  cudaGraphExec_t graph_;
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid.bytes[i] >> 4 & 15];
    text += kDigits[uuid.bytes[i] & 15];
  }
  return text;
}

DeviceInfo describe(int index) {
  cudaDeviceProp properties{};
  CHECK_CUDA(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info;
  info.device = "cuda:" + std::to_string(index);
  info.model = properties.name;
  info.l2_bytes = properties.l2CacheSize;
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  // Two transfers per clock of a double data rate bus; the attribute is in kHz.
  const double clock = attribute(cudaDevAttrMemoryClockRate, index) * 1e3;
  const double width = attribute(cudaDevAttrGlobalMemoryBusWidth, index) / 8.0;
  if (clock > 0 && width > 0) info.theoretical_peak_gb_s = 2 * clock * width / 1e9;
  int driver = 0, runtime = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  info.details = {
      {"compute_capability",
       std::to_string(properties.major) + "." + std::to_string(properties.minor)},
      {"multiprocessors", std::to_string(properties.multiProcessorCount)},
      {"sm_clock_mhz", std::to_string(attribute(cudaDevAttrClockRate, index) / 1000)},
      {"memory_clock_mhz", std::to_string(attribute(cudaDevAttrMemoryClockRate, index) / 1000)},
      {"memory_bus_bits", std::to_string(attribute(cudaDevAttrGlobalMemoryBusWidth, index))},
      {"ecc", properties.ECCEnabled ? "on" : "off"},
      {"uuid", uuid_text(properties.uuid)},
      {"driver_cuda", version_text(driver)},
      {"runtime_cuda", version_text(runtime)},
  };
  return info;
}

class CudaBackend : public Backend {
 public:
  CudaBackend(int index, std::vector<std::string>* notes) {
    // Before there is a context of ours, so that every process that computes there is another one:
    // their ids may be those of another namespace.
    watch(index, notes);
    CHECK_CUDA(cudaSetDevice(index));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    DeviceInfo info = describe(index);
    info.details.insert(info.details.end(), info_.details.begin(), info_.details.end());
    info_ = std::move(info);
    events_ = std::make_unique<Events>();
    counter_ = DeviceMemory(*this, sizeof(unsigned long long));
  }
  ~CudaBackend() override {
    flush_.reset();
    counter_.reset();
    events_.reset();
    cudaStreamDestroy(stream_);
  }

  const DeviceInfo& info() const override { return info_; }
  std::span<const RopeVariant> variants() const override {
    size_t count = 0;
    const RopeVariant* rows = rope_cuda_variants(&count);
    return {rows, count};
  }
  std::span<const RopeVariant> limits() const override {
    size_t count = 0;
    const RopeVariant* rows = rope_cuda_limits(&count);
    return {rows, count};
  }
  bool is_host() const override { return false; }
  void* stream() const override { return stream_; }
  int num_threads() const override { return 1; }
  DeviceMonitor* monitor() override { return monitor_.get(); }

  void* allocate(size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, std::max<size_t>(bytes, 1));
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemory("device memory");
    }
    CHECK_CUDA(error);
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  size_t free_bytes() const override {
    size_t free = 0, total = 0;
    CHECK_CUDA(cudaMemGetInfo(&free, &total));
    return free;
  }
  size_t set_budget() const override {
    return std::min(static_cast<size_t>(info_.memory_bytes) / 4, free_bytes() / 2);
  }

  void upload(void* to, const void* from, size_t bytes) override {
    CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
    synchronize();
  }
  void download(void* to, const void* from, size_t bytes) override {
    CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
    synchronize();
  }
  void replicate(const SetRange& to, const void* source) override {
    CHECK_CUDA(cuda_support::replicate(to.base, to.stride, to.sets, source, to.bytes, stream_));
  }
  void fill(const SetRange& to, uint8_t pattern) override {
    CHECK_CUDA(cuda_support::fill(to.base, to.stride, to.sets, pattern, to.bytes, stream_));
  }
  int64_t count_differences(const SetRange& in, const void* source) override {
    return counted([&](unsigned long long* count) {
      return cuda_support::count_differences(in.base, in.stride, in.sets, source, 0, in.bytes,
                                             count, stream_);
    });
  }
  int64_t count_other_than(const SetRange& in, uint8_t pattern) override {
    return counted([&](unsigned long long* count) {
      return cuda_support::count_differences(in.base, in.stride, in.sets, nullptr, pattern,
                                             in.bytes, count, stream_);
    });
  }
  void flush_cache() override {
    const auto bytes = static_cast<size_t>(4 * info_.l2_bytes);
    if (flush_.data() == nullptr) {
      flush_ = DeviceMemory(*this, bytes);
      CHECK_CUDA(cudaMemsetAsync(flush_.data(), 0, bytes, stream_));
    }
    CHECK_CUDA(cuda_support::read_all(flush_.data(), bytes,
                                      reinterpret_cast<uint32_t*>(counter_.data()), stream_));
  }
  void synchronize() override { CHECK_CUDA(cudaStreamSynchronize(stream_)); }

  void launch(const Launch& one) override {
    CHECK_CUDA(one.variant == nullptr ? cuda_support::empty(stream_)
                                      : one.variant->launch(&one.args));
  }

  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      for (const Launch& one : launches) launch(one);
    } catch (...) {
      // Leave the stream usable for the next case.
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    CHECK_CUDA(error);
    CHECK_CUDA(cudaGraphUpload(executable, stream_));
    return std::make_unique<GraphWindow>(executable);
  }

  double time(Window& window) override {
    CHECK_CUDA(cudaEventRecord(events_->start, stream_));
    CHECK_CUDA(cudaGraphLaunch(static_cast<GraphWindow&>(window).graph(), stream_));
    return finish();
  }
  double time_isolated(const Launch& one) override {
    CHECK_CUDA(cudaEventRecord(events_->start, stream_));
    launch(one);
    return finish();
  }
  double host_cost(const Launch& one) override {
    synchronize();
    constexpr int kLaunches = 16;  // fewer than the queue holds
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) launch(one);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    synchronize();
    return spent.count() / kLaunches;
  }

  void profile(const Launch& one) override {
    nvtxRangePushA("rope-bench");
    CHECK_CUDA(cudaProfilerStart());
    launch(one);
    synchronize();
    CHECK_CUDA(cudaProfilerStop());
    nvtxRangePop();
  }

  int64_t judge(const JudgeArgs& args) override {
    return counted(
        [&](unsigned long long* wrong) { return cuda_support::judge(args, wrong, stream_); });
  }

 private:
  struct Events {
    Event start, end;
  };

  void watch(int index, std::vector<std::string>* notes) {
    std::string why;
    char bus_id[32] = "";
    CHECK_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), index));
    monitor_ = open_nvml(bus_id, &why);
    if (!monitor_) {
      notes->push_back("clocks are not watched: NVML (libnvidia-ml.so.1): " + why);
      return;
    }
    info_.details = monitor_->facts();
    const std::optional<int> others = monitor_->num_processes();
    info_.details.emplace_back("other_processes", others ? std::to_string(*others) : "unknown");
    if (others.value_or(0) > 0) {
      notes->push_back("other processes compute on this GPU (" + std::to_string(*others) +
                       "): times are worth little");
    }
  }

  // Runs a kernel that adds to a counter, and returns what it counted.
  template <typename Fn>
  int64_t counted(Fn&& enqueue) {
    auto* counter = reinterpret_cast<unsigned long long*>(counter_.data());
    CHECK_CUDA(cudaMemsetAsync(counter, 0, sizeof(*counter), stream_));
    CHECK_CUDA(enqueue(counter));
    unsigned long long count = 0;
    download(&count, counter, sizeof(count));
    return static_cast<int64_t>(count);
  }

  double finish() {
    CHECK_CUDA(cudaEventRecord(events_->end, stream_));
    CHECK_CUDA(cudaEventSynchronize(events_->end));
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, events_->start, events_->end));
    return milliseconds * 1e-3;
  }

  cudaStream_t stream_ = nullptr;
  DeviceInfo info_;
  std::unique_ptr<DeviceMonitor> monitor_;
  std::unique_ptr<Events> events_;
  DeviceMemory flush_, counter_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int index, std::vector<std::string>* notes) {
  return std::make_unique<CudaBackend>(index, notes);
}

int count_cuda_devices(std::string* why_none) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    *why_none = cudaGetErrorString(error);
    return 0;
  }
  if (count == 0) *why_none = "no CUDA device";
  return count;
}

std::string cuda_device_model(int index) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, index) == cudaSuccess ? properties.name
                                                                    : "unknown GPU";
}

}  // namespace rope_bench
