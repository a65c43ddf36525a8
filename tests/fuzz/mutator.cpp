#include "tests/fuzz/mutator.h"

#include <iterator>

namespace rope_bench {
namespace {

// Written as bare words once the document is text.
constexpr const char* kBare[] = {"NaN", "Infinity", "-Infinity", "1e999", "-0", "1E+2", "0x10"};

std::string with_bare_words(std::string text) {
  for (const char* word : kBare) {
    const std::string quoted = std::string("\"@") + word + "\"";
    for (size_t at; (at = text.find(quoted)) != std::string::npos;) {
      text.replace(at, quoted.size(), word);
    }
  }
  return text;
}

}  // namespace

// SplitMix64.
uint64_t Mutator::random() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Walks down from the root and stops somewhere.
Mutator::Json& Mutator::any_node(Json& root) {
  Json* node = &root;
  while (node->is_structured() && !node->empty() && !chance(4)) {
    auto it = node->begin();
    std::advance(it, static_cast<ptrdiff_t>(below(node->size())));
    node = &*it;
  }
  return *node;
}

Mutator::Json Mutator::any_number() {
  switch (below(10)) {
    case 0:
      return 0;
    case 1:
      return -1;
    case 2:
      return int64_t{1} << below(63);
    case 3:
      return -(int64_t{1} << below(63));
    case 4:
      return UINT64_MAX;
    case 5:
      return 1.0 / static_cast<double>(1 + below(1000));
    case 6:
      return 1e308;
    case 7:
      return 5e-324;
    case 8:
      return static_cast<double>(below(100000)) / 7;
    default:
      return below(300);
  }
}

Mutator::Json Mutator::any_value() {
  switch (below(9)) {
    case 0:
      return nullptr;
    case 1:
      return chance(2);
    case 2:
      return words_[below(words_.size())];
    case 3:
      return std::to_string(below(100000));
    case 4:
      return std::string("@") + kBare[below(std::size(kBare))];
    case 5:
      return chance(2) ? Json::array() : Json::object();
    case 6: {
      Json list = Json::array();
      for (size_t i = below(70); i > 0; --i) list.push_back(any_number());
      return list;
    }
    default:
      return any_number();
  }
}

void Mutator::change_object(Json& object) {
  if (object.empty() || chance(5)) {
    object[words_[below(words_.size())]] = any_value();
    return;
  }
  auto it = object.begin();
  std::advance(it, static_cast<ptrdiff_t>(below(object.size())));
  const std::string key = it.key();
  const Json value = it.value();
  switch (below(4)) {
    case 0:
      object.erase(key);
      break;
    case 1: {
      object.erase(key);
      std::string other = chance(2) ? words_[below(words_.size())] : key;
      if (chance(3) && !other.empty())
        other[below(other.size())] = static_cast<char>(1 + below(126));
      object[other] = value;
      break;
    }
    case 2: {
      // Of another model, whole.
      const Json& other = any_document();
      auto from = other.begin();
      std::advance(from, static_cast<ptrdiff_t>(below(other.size())));
      object[from.key()] = from.value();
      break;
    }
    default:
      object[key] = any_value();
  }
}

void Mutator::change(Json& root) {
  if (chance(8)) {
    root["model_type"] = words_[below(words_.size())];
    return;
  }
  Json& node = any_node(root);
  if (node.is_object() && !chance(6)) return change_object(node);
  if (node.is_number() && chance(2)) {
    node = chance(2) ? Json(-node.get<double>()) : Json(node.get<double>() * 1.5);
    return;
  }
  if (chance(4)) {
    Json inner = node;
    for (size_t depth = 1 + (chance(10) ? below(100) : below(3)); depth > 0; --depth) {
      inner = chance(2) ? Json::array({inner}) : Json{{"text_config", inner}};
    }
    node = inner;
    return;
  }
  node = any_value();
}

std::string Mutator::damage(std::string text) {
  for (size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random() & 0xff);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.erase(at, 1 + below(8));
    }
  }
  return text;
}

std::string Mutator::next() {
  Json document = any_document();
  for (size_t times = 1 + below(3); times > 0; --times) {
    if (!document.is_object()) break;
    change(document);
  }
  std::string text = with_bare_words(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  return chance(12) ? damage(std::move(text)) : text;
}

}  // namespace rope_bench
