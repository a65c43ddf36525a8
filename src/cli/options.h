// Flags shared by commands: each group of flags and the struct that it fills.
#ifndef ROPE_BENCH_SRC_CLI_OPTIONS_H_
#define ROPE_BENCH_SRC_CLI_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/case/config.h"

namespace CLI {
class App;
}

namespace rope_bench {

// Which cases: a config, what is laid over it, and which of the results are kept.
struct CaseOptions {
  std::string config;
  Overrides overrides;
  std::string filter;
  std::string shard;
};
void add_case_flags(CLI::App& app, CaseOptions& options);

void add_output_flag(CLI::App& app, std::vector<std::string>& outputs,
                     const std::vector<std::string>& formats);

void add_device_flag(CLI::App& app, std::string& device);

struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity_flags(CLI::App& app, Verbosity& verbosity);

// --shard i/n, from 0. Throws ConfigError.
struct Shard {
  uint64_t index = 0, count = 1;
};
Shard parse_shard(const std::string& text);
// Depends on the name alone, so that every machine agrees.
bool in_shard(const Shard& shard, const std::string& case_name);

// Loads, filters and shards. Throws ConfigError; an empty `cases` is for the caller to judge.
LoadedConfig select_cases(const CaseOptions& options);
// Why nothing is left, for an empty selection.
std::string nothing_selected(const CaseOptions& options);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_OPTIONS_H_
