// The parser's events -> a tree of nodes that know where they stand.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "src/case/errors.h"
#include "src/case/json_node.h"
#include "src/case/text_check.h"

namespace rope_bench {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxNodes = 4'000'000;

// Hands the parser one byte after the other and leaves a mark of how far it has read.
class ReadMark {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ReadMark(const char* at, const char** mark) : at_(at), mark_(mark) {}
  reference operator*() const { return *at_; }
  ReadMark& operator++() {
    ++at_;
    if (mark_) *mark_ = at_;
    return *this;
  }
  bool operator==(const ReadMark& other) const { return at_ == other.at_; }
  bool operator!=(const ReadMark& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** mark_;
};

bool is_number_char(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// The word, for messages, around the place where the parser gave up.
std::string_view word_at(std::string_view text, size_t offset) {
  const auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '+' || c == '.' || c == '_';
  };
  size_t first = std::min(offset, text.size());
  while (first > 0 && part(text[first - 1])) --first;
  size_t last = first;
  while (last < text.size() && part(text[last])) ++last;
  return text.substr(first, last - first);
}

// Builds the tree from the parser's events.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const Source& source, const char* const* mark) : source_(source), mark_(mark) {}

  bool null() override { return add(std::monostate{}, read() - 4); }
  bool boolean(bool value) override { return add(value, read() - (value ? 4 : 5)); }
  bool number_integer(int64_t value) override { return add(value, number_start()); }
  bool number_unsigned(uint64_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return add(value, number_start());
    }
    return add(static_cast<int64_t>(value), number_start());
  }
  bool number_float(double value, const std::string&) override {
    return add(value, number_start());
  }
  bool string(std::string& value) override {
    const size_t start = string_start();
    return add(std::move(value), start);
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return open(Node::Object{}); }
  bool start_array(std::size_t) override { return open(Node::List{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    const size_t start = string_start();
    Node::Object& members = std::get<Node::Object>(stack_.back().value);
    // Only a hash that was there before makes it worth looking at all keys.
    const bool may_be_known = !hashes_.back().insert(std::hash<std::string>()(key)).second;
    for (const Member& member : members) {
      if (!may_be_known) break;
      if (member.key != key) continue;
      throw ConfigError(fmt::format("{}: {}: key {} appears twice, first at {}",
                                    place(source_, start), pointer(), nlohmann::json(key).dump(),
                                    place(source_, member.offset)));
    }
    members.push_back({std::move(key), start, {}});
    return true;
  }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::json::exception& error) override {
    size_t at = std::min(read() == 0 ? 0 : read() - 1, source_.text.size());
    const bool at_end =
        token.find("end of input") != std::string::npos ||
        std::string_view(error.what()).find("unexpected end of input") != std::string_view::npos;
    std::string reason;
    const std::string_view word = word_at(source_.text, at);
    if (at_end) {
      at = source_.text.find_last_not_of(" \t\r\n") + 1;
      reason = "the text ends in the middle of a value";
    } else if (is_not_finite(word)) {
      at = static_cast<size_t>(word.data() - source_.text.data());
      reason = fmt::format("{} is not a number that JSON has; allowed: a finite number", word);
    } else if (error.id == 406) {
      at = static_cast<size_t>(word.data() - source_.text.data());
      reason = fmt::format("{} is too large for a number", word);
    } else {
      reason = fmt::format("not JSON: {}", brief(error.what()));
    }
    const std::string path = stack_.empty() ? "" : pointer() + ": ";
    throw ConfigError(fmt::format("{}: {}{}", place(source_, at), path, reason));
  }

  Node take() { return std::move(root_); }

 private:
  size_t read() const { return static_cast<size_t>(*mark_ - source_.text.data()); }

  // To know that a number has ended the parser reads one character more, except at the very end.
  size_t number_start() const {
    size_t end = read();
    if (end > 0 && !is_number_char(source_.text[end - 1])) --end;
    while (end > 0 && is_number_char(source_.text[end - 1])) --end;
    return end;
  }

  // Inside a string a quote has an odd number of backslashes before it.
  size_t string_start() const {
    size_t at = read() - 1;  // the closing quote
    while (at > 0) {
      --at;
      if (source_.text[at] != '"') continue;
      size_t backslashes = 0;
      while (at > backslashes && source_.text[at - backslashes - 1] == '\\') ++backslashes;
      if (backslashes % 2 == 0) break;
    }
    return at;
  }

  static bool is_not_finite(std::string_view word) {
    std::string lower;
    for (const char c : word) {
      if (c != '-' && c != '+') lower += static_cast<char>(c | 0x20);
    }
    return lower == "nan" || lower == "inf" || lower == "infinity";
  }

  // The parser's own words without its prefix of class, number and position.
  static std::string brief(std::string_view what) {
    const size_t cut = what.find(": ");
    std::string text(cut == std::string_view::npos ? what : what.substr(cut + 2));
    for (const std::string_view noise : {"syntax error while parsing ", "syntax error "}) {
      if (text.starts_with(noise)) text.erase(0, noise.size());
    }
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return text.substr(0, 160);
  }

  // JSON pointer of what is being read.
  std::string pointer() const {
    std::string path;
    for (const Node& node : stack_) {
      if (const Node::List* list = node.list()) {
        path += fmt::format("/{}", list->size());
      } else if (const Node::Object* object = node.object(); object && !object->empty()) {
        path += pointer_token(object->back().key);
      }
    }
    return path.empty() ? "/" : path;
  }

  template <typename T>
  bool add(T value, size_t offset) {
    if (++nodes_ > kMaxNodes) {
      throw ConfigError(fmt::format("{}: more than {} values", place(source_, offset), kMaxNodes));
    }
    return attach({std::move(value), &source_, offset});
  }

  bool attach(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
    } else if (auto* list = std::get_if<Node::List>(&stack_.back().value)) {
      list->push_back(std::move(node));
    } else {
      std::get<Node::Object>(stack_.back().value).back().value = std::move(node);
    }
    return true;
  }

  template <typename T>
  bool open(T empty) {
    if (stack_.size() >= kMaxDepth) {
      throw ConfigError(fmt::format("{}: {}: nested deeper than {} levels",
                                    place(source_, read() - 1), pointer().substr(0, 40),
                                    kMaxDepth));
    }
    ++nodes_;
    stack_.push_back({std::move(empty), &source_, read() - 1});
    hashes_.emplace_back();
    return true;
  }

  bool close() {
    Node node = std::move(stack_.back());
    stack_.pop_back();
    hashes_.pop_back();
    return attach(std::move(node));
  }

  const Source& source_;
  const char* const* mark_;
  std::vector<Node> stack_;
  std::vector<std::unordered_set<size_t>> hashes_;  // of the keys of each open object
  Node root_;
  size_t nodes_ = 0;
};

}  // namespace

Node parse_json(const Source& source) {
  require_utf8_text(source);
  const char* mark = source.text.data();
  Builder builder(source, &mark);
  const char* end = source.text.data() + source.text.size();
  nlohmann::json::sax_parse(ReadMark(source.text.data(), &mark), ReadMark(end, nullptr), &builder,
                            nlohmann::json::input_format_t::json, /*strict=*/true,
                            /*ignore_comments=*/true);
  return builder.take();
}

}  // namespace rope_bench
