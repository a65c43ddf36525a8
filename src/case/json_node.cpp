#include "src/case/json_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rope_bench {

std::string place(const Source& source, size_t offset) {
  if (source.is_flag) return source.label;
  const std::string_view before = std::string_view(source.text).substr(0, offset);
  const size_t newline = before.rfind('\n');
  size_t column = newline == std::string_view::npos ? offset : offset - newline - 1;
  // Editors do not count a byte order mark.
  if (newline == std::string_view::npos && before.starts_with("\xef\xbb\xbf")) column -= 3;
  return fmt::format("{}:{}:{}", source.label, 1 + std::count(before.begin(), before.end(), '\n'),
                     column + 1);
}

nlohmann::ordered_json to_json(const Node& node) {
  using Json = nlohmann::ordered_json;
  if (const Node::List* list = node.list()) {
    Json out = Json::array();
    for (const Node& item : *list) out.push_back(to_json(item));
    return out;
  }
  if (const Node::Object* object = node.object()) {
    Json out = Json::object();
    for (const Member& member : *object) out[member.key] = to_json(member.value);
    return out;
  }
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, Node::List> ||
                      std::is_same_v<T, Node::Object>) {
          return nullptr;
        } else {
          return value;
        }
      },
      node.value);
}

namespace {

// The number as it was written, where its place is known: 1.50e3 rather than 1500. Values of a
// range have no such place.
std::string as_written(const Node& node) {
  const double* number = std::get_if<double>(&node.value);
  const std::string computed = number ? fmt::format("{}", *number) : to_json(node).dump();
  const bool is_number = number || std::holds_alternative<int64_t>(node.value) ||
                         std::holds_alternative<uint64_t>(node.value);
  if (!is_number || !node.source || node.offset >= node.source->text.size()) return computed;
  const std::string& text = node.source->text;
  const size_t end = text.find_first_not_of("0123456789+-.eE", node.offset);
  const std::string written = text.substr(node.offset, end - node.offset);
  const auto parsed = nlohmann::ordered_json::parse(written, nullptr, false);
  const bool same = parsed.is_number() && parsed == to_json(node);
  return same ? written : computed;
}

}  // namespace

std::string to_text(const Node& node, size_t limit) {
  std::string text = as_written(node);
  if (text.size() <= limit) return text;
  size_t cut = limit;
  // Not in the middle of a UTF-8 sequence.
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

std::string pointer_token(std::string_view key) {
  std::string token = "/";
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      token += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));  // messages are one line
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace rope_bench
