#include "src/hf/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/case/errors.h"
#include "src/case/key_values.h"

namespace rope_bench {
namespace {

const Member* member_of(const Node& object, std::string_view key) {
  for (const Member& member : *object.object()) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

bool is_false(const Node& node) {
  const bool* flag = std::get_if<bool>(&node.value);
  return flag && !*flag;
}

}  // namespace

void refuse(const Trace& at, const std::string& what) {
  throw ConfigError(fmt::format("{}: {}: {}", at.node->place(),
                                at.pointer.empty() ? std::string("/") : at.pointer, what));
}

void refuse_value(const Trace& at, const std::string& allowed) {
  refuse(at, fmt::format("{} is not allowed; allowed: {}", to_text(*at.node), allowed));
}

Trace Fields::trace(std::string_view key) const {
  const Member* member = member_of(*node_, key);
  return {member ? &member->value : node_, pointer_ + pointer_token(key)};
}

const Node* Fields::find(std::string_view key) {
  read_.emplace(key);
  const Member* member = member_of(*node_, key);
  return member && !member->value.is_null() ? &member->value : nullptr;
}

bool Fields::is_null(std::string_view key) const {
  const Member* member = member_of(*node_, key);
  return member && member->value.is_null();
}

std::vector<std::string> Fields::unread() const {
  std::vector<std::string> keys;
  for (const Member& member : *node_->object()) {
    const bool off = member.value.is_null() || is_false(member.value);
    if (!off && !read_.contains(member.key)) keys.push_back(member.key);
  }
  return keys;
}

std::optional<Field<const Node*>> Fields::first(std::initializer_list<const char*> keys) {
  std::optional<Field<const Node*>> found;
  for (const char* key : keys) {
    const Node* node = find(key);
    if (node && !found) found = Field<const Node*>{node, trace(key), key};
  }
  return found;
}

std::string list_text(const std::vector<std::string>& words) {
  constexpr size_t kMost = 20;
  const size_t named = std::min(words.size(), kMost);
  std::string text = fmt::format("{}", fmt::join(words.begin(), words.begin() + named, ", "));
  if (words.size() > named) text += fmt::format(" and {} more", words.size() - named);
  return text.empty() ? "none" : text;
}

std::optional<double> number_or_text(const Node& node) {
  if (const std::optional<double> number = number_value(node)) return number;
  const std::string* text = node.text();
  if (!text) return std::nullopt;
  double number = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<Field<int64_t>> Fields::integer(std::initializer_list<const char*> keys, int64_t min,
                                              int64_t max) {
  const auto found = first(keys);
  if (!found) return std::nullopt;
  std::optional<int64_t> value = integer_value(*found->value);
  if (!value && found->value->text()) {
    const std::optional<double> number = number_or_text(*found->value);
    constexpr double kExact = 9007199254740992;  // 2^53
    if (number && std::abs(*number) <= kExact && std::floor(*number) == *number) {
      value = static_cast<int64_t>(*number);
    }
  }
  if (!value || *value < min || *value > max) {
    refuse_value(found->at, fmt::format("an integer from {} to {}", min, max));
  }
  return Field<int64_t>{*value, found->at, found->key};
}

std::optional<Field<double>> Fields::number(std::initializer_list<const char*> keys) {
  const auto found = first(keys);
  if (!found) return std::nullopt;
  const std::optional<double> value = number_or_text(*found->value);
  if (!value) refuse_value(found->at, "a finite number");
  return Field<double>{*value, found->at, found->key};
}

std::optional<Field<bool>> Fields::flag(std::initializer_list<const char*> keys) {
  const auto found = first(keys);
  if (!found) return std::nullopt;
  const bool* value = std::get_if<bool>(&found->value->value);
  if (!value) refuse_value(found->at, "true, false");
  return Field<bool>{*value, found->at, found->key};
}

std::optional<Field<std::string>> Fields::text(std::initializer_list<const char*> keys) {
  const auto found = first(keys);
  if (!found) return std::nullopt;
  if (!found->value->text()) refuse_value(found->at, "a text");
  return Field<std::string>{*found->value->text(), found->at, found->key};
}

std::optional<Fields> Fields::object(const char* key) {
  const Node* node = find(key);
  if (!node) return std::nullopt;
  if (!node->object()) refuse_value(trace(key), "an object, or null");
  return Fields(*node, pointer_ + pointer_token(key));
}

void Notes::add(bool warning, const std::string& pointer, const std::string& text) {
  for (const ConfigNote& note : notes_) {
    if (note.pointer == pointer && note.text == text) return;
  }
  notes_.push_back({warning, file_, pointer, text});
}

std::vector<ConfigNote> Notes::take() {
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const ConfigNote& a, const ConfigNote& b) { return a.warning > b.warning; });
  return std::move(notes_);
}

}  // namespace rope_bench
