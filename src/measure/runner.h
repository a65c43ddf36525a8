// case x variant -> result: check, then measure. The only place that knows both the kernels and the
// mathematics.
#ifndef ROPE_BENCH_SRC_MEASURE_RUNNER_H_
#define ROPE_BENCH_SRC_MEASURE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/case/result.h"
#include "src/case/rope_case.h"
#include "src/measure/check_options.h"

namespace rope_bench {

// "auto", "cpu", "cuda", "cuda:N". Parsed without touching CUDA. Throws ConfigError.
struct DeviceChoice {
  enum class Kind { kAuto, kCpu, kCuda } kind = Kind::kAuto;
  int index = 0;
};
DeviceChoice parse_device(const std::string& text);

// No usable GPU although one was demanded: ExitCode::kNoGpu.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AbMeasurement;

// Beside the variant of each case another one, on the same buffers.
struct AgainstVariant {
  std::string base;
  int64_t rounds = 10;
  // Called before on_result of a row that was measured so: A is the base.
  std::function<void(const AbMeasurement&)> on_measured;
};

struct RunOptions {
  bool check = true;
  bool measure = true;
  CheckOptions checks;
  std::optional<AgainstVariant> against;  // measured instead of the limit; Result has no timing
  // A planted slowdown: one launch on scratch buffers is timed with every so many, and rows are
  // labelled `slowed`. 0: none.
  int slow_every = 0;
  bool profile = false;  // in place of both: one launch per row, marked for a profiler
  // Called for each finished row, in order; `index` of `total` cases is done.
  std::function<void(const Result&, size_t index, size_t total)> on_result;
  // Called before each case.
  std::function<void(const RopeCase&, size_t index, size_t total)> on_start;
  // Polled between rows and rounds, and while a kernel runs, from a second thread; true ends the
  // run, finished rows kept.
  std::function<bool()> interrupted;
  // If set: called on a second thread when one operation of the device lasts longer than the case's
  // measure.timeout_s (kDefaultTimeoutSeconds), after on_result has had the row that hangs and
  // those that can no longer run; or when an interrupted run does not end, without them. The device
  // and the thread that called run() are lost: it must end the process.
  std::function<void(bool was_interrupted)> on_hang;
};

constexpr double kDefaultTimeoutSeconds = 60;

// One device that runs cases; made once per process.
class Runner {
 public:
  // Opens the device. kAuto without a usable GPU is the CPU; `notes` says why. Throws NoGpu for
  // kCuda.
  static std::unique_ptr<Runner> open(const DeviceChoice& choice, std::vector<std::string>* notes);
  virtual ~Runner() = default;

  virtual DeviceInfo device_info() = 0;  // peaks and floor only once something was measured
  virtual std::vector<Result> run(const std::vector<RopeCase>& cases,
                                  const RunOptions& options) = 0;
};

// The devices that this binary and machine offer: name, model, why not usable (empty if it is).
struct DeviceListing {
  std::string device, model, why_not;
};
std::vector<DeviceListing> list_devices();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_RUNNER_H_
