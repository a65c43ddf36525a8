// A/B rounds of two builds of this program, as child processes.
#ifndef ROPE_BENCH_SRC_CLI_GATE_BINARIES_H_
#define ROPE_BENCH_SRC_CLI_GATE_BINARIES_H_

#include <optional>
#include <string>
#include <vector>

#include "src/cli/options.h"
#include "src/compare/results_file.h"
#include "src/gate/decide.h"

namespace rope_bench {

struct BinaryPair {
  std::string base, now;              // programs
  std::vector<std::string> cases;     // flags of `run` that choose cases and device
  std::vector<std::string> only_now;  // more flags, of the new one alone
  double most_seconds = 0;            // for one run
};

// Each round runs both on all cases, base new new base, every second one new base base new. Judged
// is limit_ratio, where both have it and their limits are the same; else time. Throws ConfigError
// where a program writes no results or the two do not measure the same thing, NoAnswer where one
// takes too long. Empty: interrupted.
std::vector<GateCase> run_binaries(const BinaryPair& pair, int64_t rounds);

// What one run of these cases may take before it counts as stuck: a minute to start and to measure
// the device, and per row what one launch may take before the run itself calls it hung, and twice
// the time that is measured for.
double most_seconds_of(const std::vector<RopeCase>& cases);

// What one run of a program gives. nullopt: interrupted. Throws ConfigError where it writes no
// results, NoAnswer where it takes too long.
std::optional<ResultsFile> run_for_results(const std::string& program,
                                           const std::vector<std::string>& cases,
                                           double most_seconds);

// The flags of `run` that give the same cases.
std::vector<std::string> case_arguments(const CaseOptions& cases, const std::string& device);
// A regular expression that matches these names alone.
std::string filter_of(const std::vector<std::string>& names);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_GATE_BINARIES_H_
