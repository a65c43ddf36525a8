#include "src/case/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/case/errors.h"

namespace rope_bench {
namespace {

struct KeyValue {
  std::string key, value;
};

KeyValue split(const std::string& flag, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ConfigError(fmt::format("{} {}: expected KEY={}", flag, text,
                                  flag == "--axis" ? "VALUES, for example tokens=1,8,64"
                                                   : "VALUE, for example rope.theta=500000"));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// JSON where it is JSON, else the word as it stands.
Node json_or_word(const Source& source) {
  const char first = source.text.empty() ? '\0' : source.text[0];
  const bool structured = first == '{' || first == '[' || first == '"';
  try {
    return parse_json(source);
  } catch (const ConfigError&) {
    if (structured) throw;
    return {source.text, &source, 0};
  }
}

// A text such as --set name=7b2 or name=123 needs no quotes.
void make_text(const KeyTable& table, const std::string& path, Node* node) {
  const int id = table.find(path);
  const bool scalar = !node->list() && !node->object() && !node->text();
  if (id >= 0 && table[id].kind == KeyKind::kText && scalar && !node->is_null()) {
    node->value = node->source->text;
  }
}

// Whether what cannot be one value would be several for --axis.
bool would_be_axis(const KeyTable& table, const std::string& path, const Source& source) {
  const int id = table.find(path);
  if (id < 0 || !table[id].may_be_axis) return false;
  try {
    const Node values = axis_values(source, source.text);
    flatten_path(table, path, values, true);
    return values.list()->size() > 1;
  } catch (const ConfigError&) {
    return false;
  }
}

const Source& add_source(Arena* arena, std::string label, std::string text) {
  return arena->sources.emplace_back(Source{std::move(label), std::move(text), true});
}

void append(Settings* all, Settings more) {
  for (Setting& setting : more) {
    std::erase_if(*all, [&](const Setting& earlier) { return earlier.path == setting.path; });
    all->push_back(std::move(setting));
  }
}

}  // namespace

Settings flag_settings(const KeyTable& table, const Overrides& overrides, Arena* arena) {
  Settings all;
  for (const std::string& text : overrides.set) {
    const KeyValue flag = split("--set", text);
    const Source& source = add_source(arena, "--set " + text, flag.value);
    const std::string path = table.resolve(flag.key, source.label);
    Node& node = arena->nodes.emplace_back(json_or_word(source));
    make_text(table, path, &node);
    try {
      append(&all, flatten_path(table, path, node, false));
    } catch (const ConfigError& error) {
      if (!would_be_axis(table, path, source)) throw;
      throw ConfigError(fmt::format("{}; for a case each: --axis {}", error.what(), text));
    }
  }
  for (const std::string& text : overrides.axis) {
    const KeyValue flag = split("--axis", text);
    const Source& source = add_source(arena, "--axis " + text, flag.value);
    const std::string path = table.resolve(flag.key, source.label);
    const int id = table.find(path);
    if (id >= 0 && !table[id].may_be_axis) {
      throw ConfigError(fmt::format("{}: {} cannot be an axis", source.label, path));
    }
    const Node& node = arena->nodes.emplace_back(axis_values(source, flag.value));
    append(&all, flatten_path(table, path, node, true));
  }
  if (overrides.seed) {
    const Source& source = add_source(arena, fmt::format("--seed {}", *overrides.seed), "");
    const Node& node = arena->nodes.emplace_back(Node{*overrides.seed, &source, 0});
    append(&all, flatten_path(table, "seed", node, false));
  }
  if (overrides.seq_len) {
    const Source& source = add_source(arena, fmt::format("--seq-len {}", *overrides.seq_len), "");
    const Node& node = arena->nodes.emplace_back(Node{*overrides.seq_len, &source, 0});
    append(&all, flatten_path(table, "rope.seq_len", node, false));
  }
  check_exclusive(all);
  return all;
}

}  // namespace rope_bench
