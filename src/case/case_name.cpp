// How cases name themselves.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "src/case/expand.h"
#include "src/case/key_values.h"

namespace rope_bench {
namespace {

// One part of a name: no spaces, and no slash, which parts the parts.
std::string plain(std::string text) {
  for (char& c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

std::string value_label(const Node& node) {
  if (node.is_null()) return "default";
  if (node.text()) return plain(*node.text());
  const Node::List* list = node.list();
  if (!list) {
    const std::optional<int64_t> whole = integer_value(node);
    return whole ? fmt::format("{}", *whole) : to_text(node);
  }
  // A long list by its ends and length: "0,1..127x128".
  constexpr size_t kSpelledOut = 8;
  std::string label;
  for (size_t i = 0; i < list->size(); ++i) {
    if (list->size() > kSpelledOut && i == 2) {
      return label + fmt::format("..{}x{}", value_label(list->back()), list->size());
    }
    if (i > 0) label += ',';
    label += value_label((*list)[i]);
  }
  return label;
}

// {"type": "linear", "factor": 4} -> "linear,factor=4".
std::string object_label(const Node& node) {
  if (!node.object()) return value_label(node);
  std::string label;
  for (const Member& member : *node.object()) {
    if (member.value.is_null()) continue;
    if (!label.empty()) label += ',';
    const bool kind = member.key == "type" || member.key == "rope_type" || member.key == "kind";
    if (!kind) label.append(plain(member.key)).append("=");
    label += value_label(member.value);
  }
  return label.empty() ? std::string("none") : label;
}

bool has_own_part(const std::string& path) {
  return path == "op" || path == "variant" || path == "dtype" || path == "tokens";
}

bool is_text_only(const std::string& path) {
  return path == "name" || path == "description" || path == "$schema";
}

// "norm" for the hidden key that says that `norm` is there.
std::string visible(const std::string& path) {
  return path.ends_with(".given") ? path.substr(0, path.size() - 6) : path;
}

}  // namespace

std::string case_name(const KeyTable& table, const Suite& suite, const std::vector<size_t>& choice,
                      const RopeCase& c) {
  std::string result = plain(c.config);
  if (!suite.entry_name.empty()) result.append("/").append(plain(suite.entry_name));
  result += fmt::format("/{}/{}/{}/T{}", name(c.op), c.variant, info(c.dtype).name,
                        c.seq_lens.empty() ? c.tokens : c.num_tokens());
  for (size_t i = 0; i < suite.settings.size(); ++i) {
    const Setting& setting = suite.settings[i];
    const bool from_entry = suite.entry_name.empty() && suite.entry_values.count(setting.node) != 0;
    if (!(setting.axis || from_entry) || has_own_part(setting.path) || is_text_only(setting.path)) {
      continue;
    }
    const Node& value = setting.axis ? (*setting.node->list())[choice[i]] : *setting.node;
    result += fmt::format("/{}={}", table.short_name(visible(setting.path)), object_label(value));
  }
  return result;
}

void make_unique(std::vector<RopeCase>* cases) {
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> repeats;
  taken.reserve(cases->size());
  for (RopeCase& c : *cases) {
    if (taken.insert(c.name).second) continue;
    int& count = repeats[c.name];
    if (count == 0) count = 1;
    std::string candidate;
    do {
      candidate = fmt::format("{}#{}", c.name, ++count);
    } while (!taken.insert(candidate).second);
    c.name = candidate;
  }
}

}  // namespace rope_bench
