#include "src/case/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/case/key_rows.h"
#include "src/case/key_values.h"

namespace rope_bench {
namespace {

bool ends_in(std::string_view path, std::string_view word) {
  if (path == word) return true;
  return path.size() > word.size() && path.ends_with(word) &&
         path[path.size() - word.size() - 1] == '.';
}

std::string_view parent_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view leaf_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

KeyTable::KeyTable(ScalingCatalog scalings)
    : scalings_(scalings), keys_(key_rows(scalings)), groups_(group_rows()) {
  for (size_t i = 0; i < keys_.size(); ++i) index_.emplace(keys_[i].path, static_cast<int>(i));
}

int KeyTable::find(std::string_view path) const {
  const auto found = index_.find(path);
  return found == index_.end() ? -1 : found->second;
}

const KeyGroup* KeyTable::group(std::string_view path) const {
  for (const KeyGroup& group : groups_) {
    if (group.path == path) return &group;
  }
  return nullptr;
}

std::vector<std::string> KeyTable::names_in(std::string_view group) const {
  std::vector<std::string> names;
  for (const Key& key : keys_) {
    if (!key.hidden && parent_of(key.path) == group) names.emplace_back(leaf_of(key.path));
  }
  for (const KeyGroup& row : groups_) {
    if (parent_of(row.path) == group) names.emplace_back(leaf_of(row.path));
  }
  return names;
}

std::vector<std::string> KeyTable::matches(std::string_view word) const {
  std::vector<std::string> found;
  for (const Key& key : keys_) {
    if (key.hidden) continue;
    if (key.path == word) return {key.path};
    if (ends_in(key.path, word)) found.push_back(key.path);
  }
  for (const KeyGroup& group : groups_) {
    if (group.path == word) return {group.path};
    if (ends_in(group.path, word)) found.push_back(group.path);
  }
  return found;
}

std::string KeyTable::resolve(const std::string& word, const std::string& flag) const {
  const std::vector<std::string> found = matches(word);
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    throw ConfigError(fmt::format("{}: key \"{}\" could be any of {}; write more of its path", flag,
                                  word, fmt::join(found, ", ")));
  }
  if (word == "cases") {
    throw ConfigError(
        fmt::format("{}: \"cases\" is not allowed here; a file alone can list cases", flag));
  }
  std::vector<std::string> known;
  for (const Key& key : keys_) {
    if (key.hidden) continue;
    known.push_back(key.path);
    known.emplace_back(leaf_of(key.path));
  }
  const std::string near = nearest(word, known);
  throw ConfigError(fmt::format("{}: unknown key \"{}\"{}", flag, word,
                                near.empty() ? "; `rope-bench schema config` lists all keys"
                                             : fmt::format("; nearest: \"{}\"", near)));
}

std::string KeyTable::short_name(const std::string& path) const {
  for (size_t at = path.size(); (at = path.rfind('.', at - 1)) != std::string::npos;) {
    const std::string ending = path.substr(at + 1);
    const std::vector<std::string> found = matches(ending);
    if (found.size() == 1 && found[0] == path) return ending;
    if (at == 0) break;
  }
  return path;
}

std::string pointer_of(std::string_view path) {
  std::string pointer;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    pointer += pointer_token(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return pointer;
}

bool is_axis(const Key& key, const Node& value) {
  const Node::List* list = value.list();
  if (!list) return false;
  const auto holds_list = [&] {
    return std::any_of(list->begin(), list->end(), [](const Node& n) { return n.list(); });
  };
  switch (key.kind) {
    case KeyKind::kIntegerList:
    case KeyKind::kNumberList:
      return holds_list();
    case KeyKind::kIntegerLists:
      return std::any_of(list->begin(), list->end(), [](const Node& n) {
        return n.list() && std::any_of(n.list()->begin(), n.list()->end(),
                                       [](const Node& item) { return item.list(); });
      });
    case KeyKind::kPositions:  // words, or lists of integers
      // A number among words is a slip in a list of positions, not an alternative.
      return holds_list() ||
             (!list->empty() &&
              std::none_of(list->begin(), list->end(),
                           [](const Node& n) { return number_value(n); }) &&
              std::any_of(list->begin(), list->end(), [](const Node& n) { return n.text(); }));
    default:
      return true;
  }
}

}  // namespace rope_bench
