#include "src/measure/nvml.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>

namespace rope_bench {
namespace {

// The few declarations needed, after NVIDIA's documentation of the NVML API: the header is no part
// of the CUDA toolkit. Functions return 0 for success; a device is an opaque pointer.
using Status = int;
using Device = void*;
constexpr Status kSuccess = 0, kInsufficientSize = 7;
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
struct ProcessInfo {  // of nvmlDeviceGetComputeRunningProcesses_v2 and _v3
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

// A library that stays loaded as long as it is used.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  bool loaded() const { return handle_ != nullptr; }

  // The first of these names that there is: newer drivers have newer names for some functions.
  template <typename Function, typename... Names>
  Function find(Names... names) const {
    for (const char* name : {static_cast<const char*>(names)...}) {
      if (void* symbol = dlsym(handle_, name)) return reinterpret_cast<Function>(symbol);
    }
    return nullptr;
  }

 private:
  void* handle_;
};

class NvmlMonitor : public DeviceMonitor {
 public:
  explicit NvmlMonitor(const char* library) : lib_(library) {
    if (!lib_.loaded()) return;
    init_ = lib_.find<Status (*)()>("nvmlInit_v2", "nvmlInit");
    shutdown_ = lib_.find<Status (*)()>("nvmlShutdown");
    by_bus_id_ = lib_.find<Status (*)(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2",
                                                             "nvmlDeviceGetHandleByPciBusId");
    clock_ = lib_.find<ClockFunction>("nvmlDeviceGetClockInfo");
    max_clock_ = lib_.find<ClockFunction>("nvmlDeviceGetMaxClockInfo");
    throttle_ = lib_.find<Status (*)(Device, unsigned long long*)>(
        "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
    temperature_ = lib_.find<ClockFunction>("nvmlDeviceGetTemperature");
    power_ = lib_.find<NumberFunction>("nvmlDeviceGetPowerUsage");
    power_limit_ = lib_.find<NumberFunction>("nvmlDeviceGetEnforcedPowerLimit");
    ecc_ = lib_.find<PairFunction>("nvmlDeviceGetEccMode");
    mig_ = lib_.find<PairFunction>("nvmlDeviceGetMigMode");
    driver_ = lib_.find<Status (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
    processes_ = lib_.find<Status (*)(Device, unsigned*, ProcessInfo*)>(
        "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2");
  }
  ~NvmlMonitor() override {
    if (initialised_ && shutdown_ != nullptr) shutdown_();
  }

  // Empty, or why nothing can be read.
  std::string attach(const std::string& pci_bus_id) {
    if (!lib_.loaded()) return "it cannot be loaded";
    if (init_ == nullptr || by_bus_id_ == nullptr) return "it lacks functions";
    if (const Status status = init_(); status != kSuccess)
      return "it does not start, error " + std::to_string(status);
    initialised_ = true;
    if (const Status status = by_bus_id_(pci_bus_id.c_str(), &device_); status != kSuccess)
      return "it does not know device " + pci_bus_id + ", error " + std::to_string(status);
    return {};
  }

  DeviceState read() override {
    DeviceState state;
    state.sm_clock_mhz = clock(clock_, kClockSm);
    state.memory_clock_mhz = clock(clock_, kClockMemory);
    unsigned long long reasons = 0;
    if (throttle_ != nullptr && throttle_(device_, &reasons) == kSuccess) state.throttle = reasons;
    return state;
  }

  std::vector<std::pair<std::string, std::string>> facts() override {
    std::vector<std::pair<std::string, std::string>> facts;
    const auto add = [&](const char* key, const std::string& value) {
      facts.emplace_back(key, value);
    };
    std::array<char, 96> version{};
    const bool has_driver = driver_ != nullptr && driver_(version.data(), 80) == kSuccess;
    add("driver", has_driver ? version.data() : "unknown");
    const DeviceState now = read();
    add("sm_clock_now_mhz", text(now.sm_clock_mhz));
    add("sm_clock_max_mhz", text(clock(max_clock_, kClockSm)));
    add("memory_clock_now_mhz", text(now.memory_clock_mhz));
    add("memory_clock_max_mhz", text(clock(max_clock_, kClockMemory)));
    add("throttled_by", !now.throttle                          ? "unknown"
                        : throttle_text(*now.throttle).empty() ? "nothing"
                                                               : throttle_text(*now.throttle));
    add("power_w", watts(power_));
    add("power_limit_w", watts(power_limit_));
    add("temperature_c", text(clock(temperature_, kTemperatureGpu)));
    add("ecc_mode", mode(ecc_));
    add("mig_mode", mode(mig_));
    return facts;
  }

  std::optional<int> num_processes() override {
    if (processes_ == nullptr) return std::nullopt;
    std::array<ProcessInfo, 64> buffer{};
    unsigned count = buffer.size();
    const Status status = processes_(device_, &count, buffer.data());
    if (status != kSuccess && status != kInsufficientSize) return std::nullopt;
    return static_cast<int>(count);
  }

 private:
  using NumberFunction = Status (*)(Device, unsigned*);
  using PairFunction = Status (*)(Device, unsigned*, unsigned*);
  using ClockFunction = Status (*)(Device, unsigned, unsigned*);

  std::optional<int> clock(ClockFunction function, unsigned which) const {
    unsigned value = 0;
    if (function == nullptr || function(device_, which, &value) != kSuccess) return std::nullopt;
    return static_cast<int>(value);
  }
  std::string watts(NumberFunction function) const {
    unsigned milliwatts = 0;
    if (function == nullptr || function(device_, &milliwatts) != kSuccess) return "unknown";
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.1f", milliwatts / 1000.0);
    return number.data();
  }
  std::string mode(PairFunction function) const {
    unsigned current = 0, pending = 0;
    if (function == nullptr || function(device_, &current, &pending) != kSuccess) return "unknown";
    return current != 0 ? "on" : "off";
  }
  static std::string text(const std::optional<int>& value) {
    return value ? std::to_string(*value) : "unknown";
  }

  Library lib_;
  bool initialised_ = false;
  Device device_ = nullptr;
  Status (*init_)() = nullptr;
  Status (*shutdown_)() = nullptr;
  Status (*by_bus_id_)(const char*, Device*) = nullptr;
  ClockFunction clock_ = nullptr, max_clock_ = nullptr, temperature_ = nullptr;
  NumberFunction power_ = nullptr, power_limit_ = nullptr;
  PairFunction ecc_ = nullptr, mig_ = nullptr;
  Status (*throttle_)(Device, unsigned long long*) = nullptr;
  Status (*driver_)(char*, unsigned) = nullptr;
  Status (*processes_)(Device, unsigned*, ProcessInfo*) = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMonitor> open_nvml(const std::string& pci_bus_id, std::string* why_not,
                                         const char* library) {
  auto monitor = std::make_unique<NvmlMonitor>(library);
  *why_not = monitor->attach(pci_bus_id);
  if (!why_not->empty()) return nullptr;
  return monitor;
}

}  // namespace rope_bench
