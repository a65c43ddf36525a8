// The value of a key, as what it is.
#include "src/case/key_values.h"
#include "src/case/resolve.h"

namespace rope_bench {

const Node* Values::node(std::string_view path) const {
  const Assign* found = assign(path);
  return found ? found->value : nullptr;
}

const std::string* Values::word(std::string_view path) const {
  const Node* found = node(path);
  return found ? found->text() : nullptr;
}

std::optional<int64_t> Values::integer(std::string_view path) const {
  const Node* found = node(path);
  return found ? integer_value(*found) : std::nullopt;
}

std::optional<double> Values::number(std::string_view path) const {
  const Node* found = node(path);
  return found ? number_value(*found) : std::nullopt;
}

bool Values::flag(std::string_view path, bool otherwise) const {
  const Node* found = node(path);
  return found ? std::get<bool>(found->value) : otherwise;
}

std::string Values::word_or(std::string_view path, const char* otherwise) const {
  const std::string* text = word(path);
  return text ? *text : otherwise;
}

std::vector<int64_t> Values::integers(std::string_view path) const {
  const Node* found = node(path);
  return found && found->list() ? integers_in(*found) : std::vector<int64_t>();
}

std::vector<int64_t> integers_in(const Node& node) {
  std::vector<int64_t> list;
  list.reserve(node.list()->size());
  for (const Node& item : *node.list()) list.push_back(integer_value(item).value_or(0));
  return list;
}

}  // namespace rope_bench
