// A config laid flat: one setting per key that is written, each with its alternatives.
#ifndef ROPE_BENCH_SRC_CASE_SETTINGS_H_
#define ROPE_BENCH_SRC_CASE_SETTINGS_H_

#include <string>
#include <vector>

#include "src/case/json_node.h"
#include "src/case/keys.h"

namespace rope_bench {

// One key given one value.
struct Assign {
  int key = -1;
  const Node* value = nullptr;  // never a JSON null
  std::string pointer;
};

// What a key, or a group written as a list of objects, may be. Several alternatives, or a list of
// one, are an axis.
struct Setting {
  std::string path;
  const Node* node = nullptr;  // as written
  std::string pointer;
  bool axis = false;
  bool cleared = false;  // null, or {} for a group that this switches off: as if never written
  std::vector<std::vector<Assign>> alternatives;
};
using Settings = std::vector<Setting>;

// Lays an object of the config flat and checks every value by itself. `cases` of the top level is
// left out. Throws ConfigError for unknown keys and values that are not allowed.
// Nodes and table must outlive the result.
Settings flatten(const KeyTable& table, const Node& object, const std::string& pointer);

// The settings of one key or group, given its dotted path: what a flag sets.
Settings flatten_path(const KeyTable& table, const std::string& path, const Node& value,
                      bool each_is_alternative);

// `over` laid over `base`: a key of `over` replaces the same key, the group it belongs to where
// that was given as a list, and a key that says the same in another way (num_kv_heads and
// gqa_ratio ...). Naming a scaling type or an axes kind replaces that whole object. Replaced keys
// keep their place, new ones are appended.
Settings overlay(const Settings& base, const Settings& over);

// `entry` as it must be written so that laying it over a base that already has `flags` gives the
// same as laying the flags over all: what the flags replace is left out, and flags inside an object
// that the entry starts afresh are written into the entry.
Settings beneath(const Settings& entry, const Settings& flags);

// Throws ConfigError if two settings say the same thing in different ways.
void check_exclusive(const Settings& settings);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_SETTINGS_H_
