// The two syntaxes of --axis VALUES.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <regex>

#include "src/case/checked_math.h"
#include "src/case/errors.h"
#include "src/case/flags.h"

namespace rope_bench {
namespace {

constexpr size_t kMaxValues = 1'000'000;

struct Range {
  std::string first, last, step;
  bool multiply = false;
};

constexpr const char* kNumber = R"(([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))";

// `1-64`, `1-64*2`, `1-64+8`.
std::optional<Range> dash_range(const std::string& text) {
  static const std::regex pattern(fmt::format(R"({0}-{0}(?:([*+]){0})?)", kNumber));
  std::smatch match;
  if (!std::regex_match(text, match, pattern)) return std::nullopt;
  return Range{match[1], match[2], match[3].matched ? match[4].str() : "1", match[3] == "*"};
}

// `1:64`, `1:64:8`, `1:64:+8`, `1:64:*2`.
std::optional<Range> colon_range(const std::string& text) {
  static const std::regex pattern(fmt::format(R"({0}:{0}(?::([*+]?){0})?)", kNumber));
  std::smatch match;
  if (!std::regex_match(text, match, pattern)) return std::nullopt;
  return Range{match[1], match[2], match[4].matched ? match[4].str() : "1", match[3] == "*"};
}

std::optional<int64_t> whole(const std::string& text) {
  try {
    size_t used = 0;
    const int64_t value = std::stoll(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const Source& flag, const std::string& text, const char* why) {
  throw ConfigError(
      fmt::format("{}: range \"{}\" {}; allowed: FIRST-LAST*FACTOR with a factor "
                  "above 1, FIRST-LAST+STEP with a step above 0, FIRST <= LAST",
                  flag.label, text, why));
}

void check_size(const Source& flag, const Node::List& values) {
  if (values.size() > kMaxValues) {
    throw ConfigError(fmt::format("{}: more than {} values", flag.label, kMaxValues));
  }
}

void expand_whole(const Source& flag, const std::string& text, int64_t first, int64_t last,
                  int64_t step, bool multiply, Node::List* out) {
  if (multiply ? step < 2 : step < 1) refuse(flag, text, "does not grow");
  if (multiply && first < 1) refuse(flag, text, "multiplies from below 1");
  if (first > last) refuse(flag, text, "ends before it begins");
  for (int64_t value = first;;) {
    out->push_back({value, &flag, 0});
    check_size(flag, *out);
    // Asked so that neither the sum nor the product can wrap.
    if (multiply ? value > last / step : Int128{value} + step > last) return;
    value = multiply ? value * step : value + step;
  }
}

void expand(const Source& flag, const std::string& text, const Range& range, Node::List* out) {
  const std::optional<int64_t> a = whole(range.first), b = whole(range.last), c = whole(range.step);
  if (a && b && c) return expand_whole(flag, text, *a, *b, *c, range.multiply, out);
  const double first = std::strtod(range.first.c_str(), nullptr);
  const double last = std::strtod(range.last.c_str(), nullptr);
  const double step = std::strtod(range.step.c_str(), nullptr);
  if (!std::isfinite(first + last + step)) refuse(flag, text, "is not finite");
  if (range.multiply ? step <= 1 : step <= 0) refuse(flag, text, "does not grow");
  if (range.multiply && first <= 0) refuse(flag, text, "multiplies from 0 or below");
  if (first > last) refuse(flag, text, "ends before it begins");
  // Steps like 0.1 are not exact: the last value counts if it is missed by rounding only.
  const double end = last + 1e-9 * std::abs(last);
  for (int i = 0;; ++i) {
    const double value = range.multiply ? first * std::pow(step, i) : first + i * step;
    if (!(value <= end)) return;
    out->push_back({value, &flag, 0});
    check_size(flag, *out);
  }
}

// Splits at commas outside brackets, braces and quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      items.emplace_back();
    } else if (c != ' ' || !items.back().empty()) {
      items.back() += c;
    }
  }
  for (std::string& item : items) {
    while (!item.empty() && item.back() == ' ') item.pop_back();
  }
  return items;
}

void relabel(const Source& flag, Node* node) {
  node->source = &flag;
  node->offset = 0;
  if (auto* list = std::get_if<Node::List>(&node->value)) {
    for (Node& item : *list) relabel(flag, &item);
  }
  if (auto* object = std::get_if<Node::Object>(&node->value)) {
    for (Member& member : *object) relabel(flag, &member.value);
  }
}

Node single(const Source& flag, const std::string& item) {
  const Source source{flag.label, item, true};
  const bool structured = item[0] == '{' || item[0] == '[' || item[0] == '"';
  Node node;
  try {
    node = parse_json(source);
  } catch (const ConfigError&) {
    if (structured) throw;
    node.value = item;
  }
  relabel(flag, &node);
  return node;
}

}  // namespace

Node axis_values(const Source& flag, const std::string& values) {
  const bool bracketed = values.size() >= 2 && values.front() == '[' && values.back() == ']';
  // `[[1,2],[3]]` and `[1,2],[3]` are both two lists: the outer pair counts only if it closes last.
  std::vector<std::string> items = split(values);
  if (bracketed && items.size() == 1) items = split(values.substr(1, values.size() - 2));
  Node::List list;
  for (const std::string& item : items) {
    if (item.empty()) {
      throw ConfigError(
          fmt::format("{}: an empty value; allowed: VALUE,VALUE,... or a range", flag.label));
    }
    std::optional<Range> range = dash_range(item);
    if (!range && bracketed) range = colon_range(item);
    if (range) {
      expand(flag, item, *range, &list);
    } else {
      list.push_back(single(flag, item));
      check_size(flag, list);
    }
  }
  return {std::move(list), &flag, 0};
}

}  // namespace rope_bench
