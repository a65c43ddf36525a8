#include "src/cli/options.h"

#include <charconv>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "fmt/format.h"
#include "src/case/errors.h"
#include "src/math/scaling.h"

namespace rope_bench {
namespace {

constexpr const char* kCases = "Cases";
constexpr const char* kOutput = "Output";
constexpr const char* kDevice = "Device";

// Repeatable, one value each: CLI11 would otherwise also take the words that follow.
void add_list(CLI::App& app, const char* flags, std::vector<std::string>& values,
              const std::string& help, const char* group, const char* value_name) {
  app.add_option(flags, values, help)->allow_extra_args(false)->group(group)->type_name(value_name);
}

bool parse_number(const std::string& text, uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

// CLI11 itself would wrap a negative number around. The largest seq_len is the config's business.
std::string check_whole_number(const std::string& text) {
  uint64_t value = 0;
  return parse_number(text, value) ? "" : fmt::format("{} is not a whole number from 0", text);
}

}  // namespace

void add_case_flags(CLI::App& app, CaseOptions& options) {
  app.add_option("-c,--config", options.config,
                 "config file, or the name of a shipped config (see `list configs`)")
      ->group(kCases)
      ->type_name("FILE|NAME");
  add_list(app, "--set", options.overrides.set,
           "change one key; KEY is a dotted path, or a leaf name that is unique", kCases,
           "KEY=VALUE");
  add_list(app, "-a,--axis", options.overrides.axis,
           "make a key an axis: tokens=1,8,64 or 1-64*2 or [1:64:*2]", kCases, "KEY=VALUES");
  app.add_option("-k,--filter", options.filter,
                 "keep the case of this full name, or all cases that match this regex")
      ->group(kCases)
      ->type_name("TEXT");
  app.add_option("--seed", options.overrides.seed, "seed of the input values")
      ->check(check_whole_number)
      ->group(kCases)
      ->type_name("N");
  app.add_option("--seq-len", options.overrides.seq_len,
                 "current length, for scalings that depend on it")
      ->check(check_whole_number)
      ->group(kCases)
      ->type_name("N");
  app.add_option("--shard", options.shard, "keep part I of N of the cases, from 0")
      ->group(kCases)
      ->type_name("I/N");
}

void add_output_flag(CLI::App& app, std::vector<std::string>& outputs,
                     const std::vector<std::string>& formats) {
  add_list(app, "-o,--output", outputs,
           fmt::format("format ({}), and the file to write; without a file: stdout",
                       fmt::join(formats, ", ")),
           kOutput, "FORMAT[:FILE]");
}

void add_device_flag(CLI::App& app, std::string& device) {
  app.add_option("-d,--device", device, "auto: the first GPU, else the CPU")
      ->group(kDevice)
      ->type_name("auto|cpu|cuda[:N]")
      ->default_str("auto");
}

void add_verbosity_flags(CLI::App& app, Verbosity& verbosity) {
  app.add_flag("-q,--quiet", verbosity.quiet, "only errors and results")->group(kOutput);
  app.add_flag("-v,--verbose", verbosity.verbose, "also say what happens")->group(kOutput);
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const size_t slash = text.find('/');
  if (slash == std::string::npos || !parse_number(text.substr(0, slash), shard.index) ||
      !parse_number(text.substr(slash + 1), shard.count) || shard.index >= shard.count) {
    throw ConfigError(fmt::format(
        "--shard {}: not I/N with whole numbers 0 <= I < N, for example --shard 0/4", text));
  }
  return shard;
}

bool in_shard(const Shard& shard, const std::string& case_name) {
  // FNV-1a, 64 bits: tiny, and the same everywhere, which std::hash is not.
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : case_name) hash = (hash ^ c) * 1099511628211u;
  // The low bits of FNV see little of long names' beginnings.
  hash ^= hash >> 32;
  return hash % shard.count == shard.index;
}

LoadedConfig select_cases(const CaseOptions& options) {
  if (options.config.empty()) {
    throw ConfigError(
        "no config given; try --config llama7b.json (`rope-bench list configs` names the shipped "
        "ones, --help shows all flags)");
  }
  const Shard shard = parse_shard(options.shard);
  LoadedConfig config =
      load_config(find_config(options.config), scaling_catalog(), options.overrides);
  if (!options.filter.empty()) config.cases = filter_cases(config.cases, options.filter);
  std::erase_if(config.cases, [&](const RopeCase& c) { return !in_shard(shard, c.name); });
  return config;
}

std::string nothing_selected(const CaseOptions& options) {
  std::string flags;
  if (!options.filter.empty()) flags += fmt::format(" --filter '{}'", options.filter);
  if (!options.shard.empty()) flags += fmt::format(" --shard {}", options.shard);
  return fmt::format("no case of {} is left{}; --dry-run lists all cases", options.config,
                     flags.empty() ? "" : " by" + flags);
}

}  // namespace rope_bench
