// A JSON document whose every node knows where it stands: what error messages are made of.
#ifndef ROPE_BENCH_SRC_CASE_JSON_NODE_H_
#define ROPE_BENCH_SRC_CASE_JSON_NODE_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rope_bench {

// A text that nodes come from: a file, or one flag of the command line. Must outlive its nodes.
struct Source {
  std::string label;  // "llama7b.json", "--set rope.theta=0"
  std::string text;
  bool is_flag = false;
};

// "llama7b.json:3:17" (line and column from 1, columns in bytes), or the flag.
std::string place(const Source& source, size_t offset);

struct Member;

struct Node {
  using List = std::vector<Node>;
  using Object = std::vector<Member>;  // in the order of the text, keys unique

  // An integer that fits int64 is int64_t, one that only fits uint64 is uint64_t, any other number
  // a double.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, List, Object> value;
  const Source* source = nullptr;
  size_t offset = 0;  // of the first character of the value
  // Of a value that was translated from another document: where it stands in that one. Messages
  // then name this instead of the place in the translation.
  const std::string* pointer = nullptr;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  const List* list() const { return std::get_if<List>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  std::string place() const { return rope_bench::place(*source, offset); }
};

struct Member {
  std::string key;
  size_t offset = 0;  // of the key
  Node value;
};

// Parses a whole text as one JSON value. Line and block comments and a UTF-8 byte order mark are
// accepted. Throws ConfigError for anything that is not UTF-8 or not JSON, a key that appears
// twice, nesting deeper than 64 and more than 4 million values.
Node parse_json(const Source& source);

nlohmann::ordered_json to_json(const Node& node);

// Compact JSON of a node, at most `limit` bytes ("..." marks a cut).
std::string to_text(const Node& node, size_t limit = 60);

// `key` as a reference token of a JSON pointer, with its slash: "/a~1b".
std::string pointer_token(std::string_view key);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_JSON_NODE_H_
