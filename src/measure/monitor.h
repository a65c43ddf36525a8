// What a device says of itself while it works: clocks, what lowers them, power, temperature.
#ifndef ROPE_BENCH_SRC_MEASURE_MONITOR_H_
#define ROPE_BENCH_SRC_MEASURE_MONITOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rope_bench {

// One look at the device; absent: it does not say.
struct DeviceState {
  std::optional<int> sm_clock_mhz, memory_clock_mhz;
  std::optional<uint64_t> throttle;  // bits of NVML's "clocks event reasons"
};

// Only ever reads: no setting of a device is changed through it.
class DeviceMonitor {
 public:
  virtual ~DeviceMonitor() = default;
  // Some ten microseconds. Never inside a timed window.
  virtual DeviceState read() = 0;
  // Facts for `env` and the results, in order: key, value with its unit.
  virtual std::vector<std::pair<std::string, std::string>> facts() = 0;
  // Processes that compute on the device now; absent: it does not say.
  virtual std::optional<int> num_processes() = 0;
};

// Those bits that say that something holds the clocks down: power, heat, the board. (Others say
// that the device idles, or follows a setting.)
constexpr uint64_t kLoweringReasons = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
// "software power cap, hardware slowdown"; empty: none of kLoweringReasons.
std::string throttle_text(uint64_t reasons);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_MONITOR_H_
