// Flags shared by commands: each group of flags and the struct that it fills.
#ifndef ROPE_BENCH_SRC_CLI_OPTIONS_H_
#define ROPE_BENCH_SRC_CLI_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "src/case/config.h"
#include "src/cli/flags.h"

namespace rope_bench {

// Which cases: a config, what is laid over it, and which of the results are kept.
struct CaseOptions {
  std::string config;           // --config, or
  std::vector<std::string> hf;  // --hf
  Overrides overrides;          // all but seq_len
  std::optional<uint64_t> seq_len;
  std::string filter;
  std::string shard;
};
void add_case_flags(Flags& flags, CaseOptions& options);

void add_output_flag(Flags& flags, std::vector<std::string>& outputs,
                     const std::vector<std::string>& formats);

void add_device_flag(Flags& flags, std::string& device);

struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity_flags(Flags& flags, Verbosity& verbosity);

// --shard i/n, from 0. Throws ConfigError.
struct Shard {
  uint64_t index = 0, count = 1;
};
Shard parse_shard(const std::string& text);
// Depends on the name alone, so that every machine agrees.
bool in_shard(const Shard& shard, const std::string& case_name);

// What is said about the config: warnings of both kinds of configs, and what was read and assumed.
std::vector<ConfigNote> notes_of(const LoadedConfig& config);
nlohmann::ordered_json notes_json(const std::vector<ConfigNote>& notes);

// Loads, filters and shards. Throws ConfigError; an empty `cases` is for the caller to judge.
LoadedConfig select_cases(const CaseOptions& options);
// Why nothing is left, for an empty selection.
std::string nothing_selected(const CaseOptions& options);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_OPTIONS_H_
