// Typed reading of a JSON object that remembers which keys were looked at.
#ifndef ROPE_BENCH_SRC_HF_FIELDS_H_
#define ROPE_BENCH_SRC_HF_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/case/config.h"
#include "src/case/json_node.h"

namespace rope_bench {

// Where a value was read.
struct Trace {
  const Node* node = nullptr;
  std::string pointer;
};

template <class T>
struct Field {
  T value{};
  Trace at;
  std::string key;  // empty: not read from one key
};

// "config.json:3:17: /rope_theta: <what>" as a ConfigError.
[[noreturn]] void refuse(const Trace& at, const std::string& what);
// "... is not allowed; allowed: <allowed>".
[[noreturn]] void refuse_value(const Trace& at, const std::string& allowed);

class Fields {
 public:
  // `node` must be an object and outlive this.
  Fields(const Node& node, std::string pointer) : node_(&node), pointer_(std::move(pointer)) {}

  const Node& node() const { return *node_; }
  const std::string& pointer() const { return pointer_; }
  Trace trace(std::string_view key) const;  // of a key that is there
  Trace whole() const { return {node_, pointer_}; }

  // Null for a key that is absent or null. Marks the key as read.
  const Node* find(std::string_view key);
  bool is_null(std::string_view key) const;  // there, and null
  // Keys not looked at whose values are neither null nor false.
  std::vector<std::string> unread() const;

  // The value of the first key that is there. Numbers written as text count ("10000.0"). Throw
  // ConfigError for a value of another kind or out of range.
  std::optional<Field<int64_t>> integer(std::initializer_list<const char*> keys, int64_t min,
                                        int64_t max);
  std::optional<Field<double>> number(std::initializer_list<const char*> keys);
  std::optional<Field<bool>> flag(std::initializer_list<const char*> keys);
  std::optional<Field<std::string>> text(std::initializer_list<const char*> keys);
  std::optional<Fields> object(const char* key);

 private:
  std::optional<Field<const Node*>> first(std::initializer_list<const char*> keys);

  const Node* node_;
  std::string pointer_;
  std::set<std::string, std::less<>> read_;
};

// "a, b and 7 more": a line of a message, however many there are.
std::string list_text(const std::vector<std::string>& words);

// A number, or a text that is one; nothing for other values.
std::optional<double> number_or_text(const Node& node);

// What was found on the way, each thing once.
class Notes {
 public:
  explicit Notes(std::string file) : file_(std::move(file)) {}
  void info(const std::string& pointer, const std::string& text) { add(false, pointer, text); }
  void warn(const std::string& pointer, const std::string& text) { add(true, pointer, text); }
  // Warnings first.
  std::vector<ConfigNote> take();

 private:
  void add(bool warning, const std::string& pointer, const std::string& text);

  std::string file_;
  std::vector<ConfigNote> notes_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_FIELDS_H_
