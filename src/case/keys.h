// THE table of config keys. Reading, --set, --axis, suggestions, the schema and its documentation
// all derive from its rows.
#ifndef ROPE_BENCH_SRC_CASE_KEYS_H_
#define ROPE_BENCH_SRC_CASE_KEYS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/case/json_node.h"
#include "src/case/scaling_spec.h"

namespace rope_bench {

enum class KeyKind {
  kInteger,       // integer_min..integer_max; a number without a fraction (4096.0) counts
  kSeed,          // 0..2^64-1
  kNumber,        // finite, min..max
  kFlag,          // true, false
  kWord,          // one of `words`
  kText,          // any text without control characters
  kIntegerList,   // list of integer_min..integer_max
  kNumberList,    // list of finite numbers
  kNumberOrList,  // one or the other
  kPositions,     // one of `words`, or a list of integers
  kIntegerLists,  // list of lists of integers
};

struct Key {
  std::string path;  // dotted: "rope.theta"
  KeyKind kind = KeyKind::kInteger;
  std::string doc;
  std::string default_text = {};  // empty: none, or required
  int64_t integer_min = 0;
  int64_t integer_max = 0;
  bool even = false;
  double min = -std::numeric_limits<double>::infinity();
  bool min_exclusive = false;
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};  // aliases included
  bool may_be_axis = true;
  bool hidden = false;  // ours: set by the reader, not by users
};

// An object of the config.
struct KeyGroup {
  std::string path;  // "rope.scaling"
  std::string doc;
  bool may_be_axis = false;  // a list of such objects is an axis
};

class KeyTable {
 public:
  // Adds a row under rope.scaling for every parameter that a method of the catalog has.
  explicit KeyTable(ScalingCatalog scalings);
  KeyTable(const KeyTable&) = delete;  // index_ points into keys_
  KeyTable& operator=(const KeyTable&) = delete;

  const std::vector<Key>& keys() const { return keys_; }
  const std::vector<KeyGroup>& groups() const { return groups_; }
  ScalingCatalog scalings() const { return scalings_; }
  const Key& operator[](int id) const { return keys_[static_cast<size_t>(id)]; }

  int find(std::string_view path) const;               // index of a key, -1 if there is none
  const KeyGroup* group(std::string_view path) const;  // null if there is none
  // Names of the keys and groups directly in a group; "" is the top level.
  std::vector<std::string> names_in(std::string_view group) const;
  // What users may write for a key or group: the full path, or any ending of it that means
  // one path only. Throws ConfigError, naming `flag`, for a word that means none or several.
  std::string resolve(const std::string& word, const std::string& flag) const;
  // The shortest ending of the path that resolve() takes back to it.
  std::string short_name(const std::string& path) const;

 private:
  std::vector<std::string> matches(std::string_view word) const;

  ScalingCatalog scalings_;
  std::vector<Key> keys_;
  std::vector<KeyGroup> groups_;
  std::unordered_map<std::string_view, int> index_;  // views into keys_
};

// "an even integer from 2 to 2147483646", "neox, gptj, ...".
std::string allowed_text(const Key& key);

// "/rope/theta" from "rope.theta".
std::string pointer_of(std::string_view path);

// Why a value is not allowed by itself: the value, what is allowed, the nearest word.
struct Refusal {
  const Node* node = nullptr;  // the value, or the element of it that is not allowed
  std::string pointer;
  std::string text;
  std::string message() const;  // with place and pointer: one line
};
std::optional<Refusal> refusal(const Key& key, const Node& value, const std::string& pointer);

// Throws the refusal of a value (not null) as a ConfigError.
void check_value(const Key& key, const Node& value, const std::string& pointer);

// True if this value is a list of alternatives rather than one value of the key.
bool is_axis(const Key& key, const Node& value);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_KEYS_H_
