#include "src/cli/options.h"

#include <charconv>
#include <limits>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/errors.h"
#include "src/hf/hf.h"
#include "src/math/scaling.h"
#include "src/math/scaling_check.h"

namespace rope_bench {
namespace {

bool parse_number(const std::string& text, uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

// "a, b, c" in lines that fit beside the flags of --help.
std::string wrapped(const std::vector<std::string>& words) {
  constexpr size_t kWidth = 72;
  std::string text;
  size_t begin = 0;
  for (const std::string& word : words) {
    if (!text.empty()) text += ',';
    const bool full = text.size() - begin + word.size() > kWidth;
    if (!text.empty()) text += full ? '\n' : ' ';
    if (full) begin = text.size();
    text += word;
  }
  return text;
}

}  // namespace

void add_case_flags(Flags& flags, CaseOptions& options) {
  constexpr FlagGroup kGroup = FlagGroup::kCases;
  flags.text("-c,--config", options.config,
             "config file, or the name of a shipped config (see `list configs`)", kGroup,
             "FILE|NAME");
  flags.values("--hf", options.hf,
               "a model's Hugging Face config.json, or its folder, instead of a config; "
               "FILE#/vision_config is another object of it; several are read together",
               kGroup, "FILE|FOLDER");
  flags.list("--set", options.overrides.set,
             "change one key; KEY is a dotted path, or a leaf name that is unique", kGroup,
             "KEY=VALUE");
  flags.list("-a,--axis", options.overrides.axis,
             "make a key an axis: tokens=1,8,64 or 1-64*2 or [1:64:*2]", kGroup, "KEY=VALUES");
  flags.text("-k,--filter", options.filter,
             "keep the case of this full name, or all cases that match this regex", kGroup, "TEXT");
  flags.whole_number("--seed", options.overrides.seed, "seed of the input values", kGroup);
  flags.whole_number("--seq-len", options.seq_len, "current length, for scalings that depend on it",
                     kGroup);
  flags.text("--shard", options.shard, "keep part I of N of the cases, from 0", kGroup, "I/N");
}

void add_output_flag(Flags& flags, std::vector<std::string>& outputs,
                     const std::vector<std::string>& formats) {
  flags.list(
      "-o,--output", outputs,
      fmt::format("format ({}), and the file to write; without a file: stdout", wrapped(formats)),
      FlagGroup::kOutput, "FORMAT[:FILE]");
}

void add_device_flag(Flags& flags, std::string& device) {
  flags.text("-d,--device", device, "auto (the default): the first GPU, else the CPU",
             FlagGroup::kDevice, "auto|cpu|cuda[:N]");
}

void add_verbosity_flags(Flags& flags, Verbosity& verbosity) {
  flags.toggle("-q,--quiet", verbosity.quiet, "only errors and results", FlagGroup::kOutput);
  flags.toggle("-v,--verbose", verbosity.verbose, "also say what happens", FlagGroup::kOutput);
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
  if (!options.config.empty() && !options.hf.empty()) {
    throw ConfigError("--config and --hf contradict each other; one of them names the cases");
  }
  if (options.config.empty() && options.hf.empty()) {
    throw ConfigError(
        "no config given; try --config llama7b.json (`rope-bench list configs` names the shipped "
        "ones) or --hf config.json; --help shows all flags");
  }
  const Shard shard = parse_shard(options.shard);
  Overrides overrides = options.overrides;
  if (options.seq_len) {
    if (*options.seq_len > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      throw ConfigError(fmt::format("--seq-len {}: too large", *options.seq_len));
    }
    overrides.seq_len = static_cast<int64_t>(*options.seq_len);
  }
  LoadedConfig config =
      options.hf.empty()
          ? load_config(find_config(options.config), scaling_catalog(), overrides, ScalingCheck())
          : load_hf(options.hf, scaling_catalog(), overrides, ScalingCheck());
  if (!options.filter.empty()) config.cases = filter_cases(config.cases, options.filter);
  std::erase_if(config.cases, [&](const RopeCase& c) { return !in_shard(shard, c.name); });
  config.warnings = warnings_of(config.cases);
  return config;
}

std::vector<ConfigNote> notes_of(const LoadedConfig& config) {
  std::vector<ConfigNote> notes;
  for (const std::string& warning : config.warnings) notes.push_back({true, "", "", warning});
  notes.insert(notes.end(), config.notes.begin(), config.notes.end());
  return notes;
}

nlohmann::ordered_json notes_json(const std::vector<ConfigNote>& notes) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json list = Json::array();
  for (const ConfigNote& note : notes) {
    list.push_back({{"level", note.warning ? "warning" : "info"},
                    {"file", text_or_null(note.file)},
                    {"pointer", text_or_null(note.pointer)},
                    {"text", note.text}});
  }
  return list;
}

std::string nothing_selected(const CaseOptions& options) {
  std::string flags;
  if (!options.filter.empty()) flags += fmt::format(" --filter '{}'", options.filter);
  if (!options.shard.empty()) flags += fmt::format(" --shard {}", options.shard);
  return fmt::format(
      "no case of {} is left{}; run --dry-run lists all cases",
      options.hf.empty() ? options.config : fmt::format("{}", fmt::join(options.hf, ", ")),
      flags.empty() ? "" : " by" + flags);
}

}  // namespace rope_bench
