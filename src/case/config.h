// Config file -> resolved cases. Everything wrong is a ConfigError before any device is touched.
#ifndef ROPE_BENCH_SRC_CASE_CONFIG_H_
#define ROPE_BENCH_SRC_CASE_CONFIG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/scaling_spec.h"

namespace rope_bench {

class KeyTable;
struct Node;

// What the command line lays over a config.
struct Overrides {
  std::vector<std::string>
      set;  // --set KEY=VALUE, KEY a dotted path or a unique leaf name; VALUE JSON or a bare word
  std::vector<std::string>
      axis;  // --axis KEY=VALUES: `1,8,64`, `1-64*2`, `1-64+8`, `[1,8,64]`, `[1:64:*2]`
  std::optional<uint64_t> seed;
  std::optional<int64_t> seq_len;
};

// What a reader found worth saying about a value. Not an error: the cases are what they are.
struct ConfigNote {
  bool warning = false;
  std::string file;     // empty: of no file
  std::string pointer;  // JSON pointer into the file; empty: not read but assumed, or of the whole
  std::string text;     // one line
};
// "config.json: /rope_theta: ..."
std::string to_text(const ConfigNote& note);

// What a model's own config says of one parameter set beyond the cases made from it.
struct ModelFacts {
  std::string case_prefix;  // <config>[/<entry>] of its cases' names
  std::string model_type;
  std::string qk_norm;
};

struct LoadedConfig {
  std::string name;
  std::string path;           // as opened
  std::string resolved_json;  // the config after overrides, as compact JSON
  std::vector<RopeCase> cases;
  std::vector<std::string> warnings;  // of the cases
  std::vector<ConfigNote> notes;      // of a Hugging Face config
  std::vector<ModelFacts> models;     // the same, one for each parameter set
};

// A file as named; else a bare name, with or without ".json", in the working directory, then among
// the shipped configs. Throws ConfigError with the nearest shipped name.
std::string find_config(const std::string& name_or_file);

// Folders that shipped configs are looked for in, best first: $ROPE_BENCH_CONFIG_DIR, beside the
// binary's installation prefix (../share/rope-bench/configs), the source tree.
std::vector<std::string> shipped_config_dirs();
// Names without ".json", sorted.
std::vector<std::string> shipped_configs();

// What is wrong with a resolved case that only its mathematics can tell; empty: nothing. A text
// that begins with "rope.theta: ..." or another key's path blames that key. Passed by the caller,
// so that case/ does not depend on math/.
using CaseCheck = std::function<std::string(const RopeCase&)>;

LoadedConfig load_config(const std::string& path, ScalingCatalog scalings,
                         const Overrides& overrides, const CaseCheck& check = {});
// The same from text; `path` is only named in messages.
LoadedConfig parse_config(const std::string& text, const std::string& path, ScalingCatalog scalings,
                          const Overrides& overrides, const CaseCheck& check = {});

// The same from a document that is already parsed. `path` names it in messages that concern no
// value; the nodes' sources must outlive the call.
LoadedConfig read_config(const Node& root, const std::string& path, const KeyTable& table,
                         const Overrides& overrides, const CaseCheck& check = {});

// The text of a file of at most 16 MiB. Throws ConfigError for anything that cannot be read.
std::string read_config_file(const std::string& path);

// JSON Schema (draft 2020-12) of the config, made from the same key table that reading uses.
std::string config_schema(ScalingCatalog scalings);

// --filter: the full name of a case selects that case alone; anything else is an unanchored regex
// (ECMAScript). Throws ConfigError for a bad regex.
std::vector<RopeCase> filter_cases(const std::vector<RopeCase>& cases, const std::string& filter);

// What is said of these cases, each line once, sorted.
std::vector<std::string> warnings_of(const std::vector<RopeCase>& cases);

// The known word nearest to `word`, empty if none is near enough to be meant.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_CONFIG_H_
