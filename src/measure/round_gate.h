// Which rounds of a measurement count: those at the device's full clocks. Pure, tested on made-up
// samples.
#ifndef ROPE_BENCH_SRC_MEASURE_ROUND_GATE_H_
#define ROPE_BENCH_SRC_MEASURE_ROUND_GATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/measure/monitor.h"

namespace rope_bench {

struct GateVerdict {
  std::vector<size_t> kept;  // indices of rounds, rising
  int64_t off_clock = 0;     // rounds more than 2 % under the highest clock of the row
  int64_t throttled = 0;     // rounds in which something held the clocks down
  bool gave_up = false;      // nearly all were: all are kept then, and the row is unstable
  std::string reason;        // empty where no round was off; else which and how many
};

class RoundGate {
 public:
  // Of the round that was measured just now. A device that says nothing has no bad rounds.
  void add(const DeviceState& state);
  size_t num_rounds() const { return rounds_.size(); }

  // Over all rounds so far; a later round at a higher clock may turn earlier ones down: clocks ramp
  // up. Bad rounds are measured again, up to 32 of them where fewer are good, and only while time
  // is left; then the gate gives up, so that every row ends and none is empty.
  GateVerdict verdict(bool time_is_up) const;

  // Medians over rounds; absent if the device does not say.
  std::optional<double> sm_clock_mhz() const;
  std::optional<double> memory_clock_mhz() const;

 private:
  std::vector<DeviceState> rounds_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_ROUND_GATE_H_
