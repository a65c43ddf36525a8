// Cases and the device that they run on, for commands that judge slowdowns.
#ifndef ROPE_BENCH_SRC_CLI_OPEN_CASES_H_
#define ROPE_BENCH_SRC_CLI_OPEN_CASES_H_

#include <memory>
#include <optional>

#include "src/cli/options.h"
#include "src/measure/runner.h"

namespace rope_bench {

struct OpenCases {
  LoadedConfig config;
  std::unique_ptr<Runner> runner;
};

// Selects the cases, then opens the device; what is to be said about either goes to stderr.
// nullopt: no case is left, which is said too. Throws ConfigError and NoGpu.
std::optional<OpenCases> open_cases(const CaseOptions& cases, const DeviceChoice& device);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_OPEN_CASES_H_
