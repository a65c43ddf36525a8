// Is a value allowed by itself?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/case/key_values.h"
#include "src/case/keys.h"

namespace rope_bench {
namespace {

std::string integer_text(const Key& key) {
  const char* article = key.even ? "an even integer" : "an integer";
  if (key.integer_max - key.integer_min == 1 && key.integer_min == 0) return "0 or 1";
  return fmt::format("{} from {} to {}", article, key.integer_min, key.integer_max);
}

std::string number_text(const Key& key) {
  const bool low = std::isfinite(key.min), high = std::isfinite(key.max);
  if (!low && !high) return "a finite number";
  const std::string lower =
      fmt::format("{} {}", key.min_exclusive ? "above" : "of at least", fmt::format("{}", key.min));
  if (!high) return "a finite number " + lower;
  if (!low) return fmt::format("a number up to {}", key.max);
  return fmt::format("a number {} and up to {}", lower, key.max);
}

std::string words_text(const Key& key) { return fmt::format("{}", fmt::join(key.words, ", ")); }

bool in_range(const Key& key, double value) {
  if (!std::isfinite(value) || value > key.max) return false;
  return key.min_exclusive ? value > key.min : value >= key.min;
}

bool allowed_integer(const Key& key, const Node& node) {
  const std::optional<int64_t> value = integer_value(node);
  return value && *value >= key.integer_min && *value <= key.integer_max &&
         !(key.even && *value % 2 != 0);
}

bool allowed_number(const Key& key, const Node& node) {
  const std::optional<double> value = number_value(node);
  return value && in_range(key, *value);
}

bool allowed_word(const Key& key, const Node& node) {
  const std::string* text = node.text();
  return text && std::find(key.words.begin(), key.words.end(), *text) != key.words.end();
}

bool allowed_text_value(const Node& node) {
  const std::string* text = node.text();
  if (!text || text->empty() || text->size() > 1000) return false;
  return std::none_of(text->begin(), text->end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool allowed_list(const Key&, const Node& node) {
  return node.list() && std::all_of(node.list()->begin(), node.list()->end(),
                                    [](const Node& n) { return integer_value(n).has_value(); });
}

// The value, or its first element, that is not allowed; null if all is well.
const Node* offender(const Key& key, const Node& node) {
  const auto first_bad = [&](auto allowed) -> const Node* {
    for (const Node& item : *node.list()) {
      if (!allowed(key, item)) return &item;
    }
    return nullptr;
  };
  switch (key.kind) {
    case KeyKind::kInteger:
      return allowed_integer(key, node) ? nullptr : &node;
    case KeyKind::kSeed:
      return seed_value(node) ? nullptr : &node;
    case KeyKind::kNumber:
      return allowed_number(key, node) ? nullptr : &node;
    case KeyKind::kFlag:
      return std::holds_alternative<bool>(node.value) ? nullptr : &node;
    case KeyKind::kWord:
      return allowed_word(key, node) ? nullptr : &node;
    case KeyKind::kText:
      return allowed_text_value(node) ? nullptr : &node;
    case KeyKind::kIntegerList:
      return node.list() && !node.list()->empty() ? first_bad(allowed_integer) : &node;
    case KeyKind::kNumberList:
      return node.list() && !node.list()->empty() ? first_bad(allowed_number) : &node;
    case KeyKind::kNumberOrList:
      if (!node.list()) return allowed_number(key, node) ? nullptr : &node;
      return node.list()->empty() ? &node : first_bad(allowed_number);
    case KeyKind::kPositions:
      if (!node.list()) return allowed_word(key, node) ? nullptr : &node;
      return first_bad([](const Key&, const Node& n) { return integer_value(n).has_value(); });
    case KeyKind::kIntegerLists:
      return node.list() && !node.list()->empty() ? first_bad(allowed_list) : &node;
  }
  return nullptr;
}

// What an element of a list may be.
std::string element_text(const Key& key) {
  switch (key.kind) {
    case KeyKind::kIntegerList:
      return integer_text(key);
    case KeyKind::kNumberList:
    case KeyKind::kNumberOrList:
      return number_text(key);
    case KeyKind::kPositions:
      return "an integer, as every element of a list of positions";
    case KeyKind::kIntegerLists:
      return "a list of integers";
    default:
      return allowed_text(key);
  }
}

// An integer, but not one that 64 bits hold: no slip of the pen in its form.
bool beyond_int64(const Key& key, const Node& node) {
  if (key.kind != KeyKind::kInteger && key.kind != KeyKind::kIntegerList &&
      key.kind != KeyKind::kPositions && key.kind != KeyKind::kIntegerLists) {
    return false;
  }
  if (std::holds_alternative<uint64_t>(node.value)) return true;
  const double* value = std::get_if<double>(&node.value);
  return value && std::abs(*value) >= 9223372036854775808.0;
}

}  // namespace

std::optional<int64_t> integer_value(const Node& node) {
  if (const int64_t* value = std::get_if<int64_t>(&node.value)) return *value;
  const double* value = std::get_if<double>(&node.value);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value && std::abs(*value) <= kExact && std::floor(*value) == *value) {
    return static_cast<int64_t>(*value);
  }
  return std::nullopt;
}

std::optional<uint64_t> seed_value(const Node& node) {
  if (const uint64_t* value = std::get_if<uint64_t>(&node.value)) return *value;
  const std::optional<int64_t> value = integer_value(node);
  if (value && *value >= 0) return static_cast<uint64_t>(*value);
  return std::nullopt;
}

std::optional<double> number_value(const Node& node) {
  if (const double* value = std::get_if<double>(&node.value)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&node.value)) return static_cast<double>(*value);
  if (const uint64_t* value = std::get_if<uint64_t>(&node.value)) {
    return static_cast<double>(*value);
  }
  return std::nullopt;
}

std::string allowed_text(const Key& key) {
  switch (key.kind) {
    case KeyKind::kInteger:
      return integer_text(key);
    case KeyKind::kSeed:
      return "an integer from 0 to 18446744073709551615";
    case KeyKind::kNumber:
      return number_text(key);
    case KeyKind::kFlag:
      return "true or false";
    case KeyKind::kWord:
      return words_text(key);
    case KeyKind::kText:
      return "a text of 1 to 1000 characters without control characters";
    case KeyKind::kIntegerList:
      return "a list of integers, each " + integer_text(key);
    case KeyKind::kNumberList:
      return "a list of numbers, each " + number_text(key);
    case KeyKind::kNumberOrList:
      return number_text(key) + ", or a list of such in a list";
    case KeyKind::kPositions:
      return words_text(key) + ", or a list of integers";
    case KeyKind::kIntegerLists:
      return "a list of lists of integers";
  }
  return "";
}

std::string Refusal::message() const {
  return fmt::format("{}: {}: {}", node->place(), pointer, text);
}

std::optional<Refusal> refusal(const Key& key, const Node& value, const std::string& pointer) {
  const Node* bad = offender(key, value);
  if (!bad) return std::nullopt;
  Refusal result{bad, pointer, ""};
  if (bad != &value) result.pointer += fmt::format("/{}", bad - value.list()->data());
  result.text = fmt::format("{} is {}; allowed: {}", to_text(*bad),
                            beyond_int64(key, *bad) ? "out of range" : "not allowed",
                            bad == &value ? allowed_text(key) : element_text(key));
  const bool word_meant = bad == &value || key.kind != KeyKind::kPositions;
  if (const std::string* text = bad->text(); text && word_meant) {
    const std::string near = nearest(*text, key.words);
    if (!near.empty()) result.text += fmt::format("; nearest: \"{}\"", near);
  }
  return result;
}

void check_value(const Key& key, const Node& value, const std::string& pointer) {
  const std::optional<Refusal> refused = refusal(key, value, pointer);
  if (refused) throw ConfigError(refused->message());
}

}  // namespace rope_bench
