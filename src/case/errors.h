// The two ways in which a run can be refused.
#ifndef ROPE_BENCH_SRC_CASE_ERRORS_H_
#define ROPE_BENCH_SRC_CASE_ERRORS_H_

#include <stdexcept>
#include <string>

namespace rope_bench {

// Exit codes of the program; the one place that numbers them.
enum class ExitCode : int {
  kGood = 0,
  kWrong = 1,
  kUsage = 2,
  kSlower = 3,
  kInconclusive = 4,
  kNothingRan = 5,
  kInternal = 6,
  kNoGpu = 77,
  kInterrupted = 130,
};

// Speaks to the user: one line that says where (file:line, JSON pointer or flag), the bad value,
// what is allowed and the nearest known key. Ends the program with ExitCode::kUsage.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Memory of the device or host does not hold the case: the row is `out_of_memory`, the run goes on.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A CUDA call failed or an invariant of ours broke. Ends the program with ExitCode::kInternal.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_ERRORS_H_
