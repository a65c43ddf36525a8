#include "src/hf/non_finite.h"

#include <algorithm>
#include <string_view>

namespace rope_bench {
namespace {

struct Word {
  std::string_view python, quoted;
};
constexpr Word kWords[] = {
    {"-Infinity", "\"-infini\""}, {"Infinity", "\"infini\""}, {"NaN", "\"~\""}};

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the string, or the comment, that begins at `at` ends; `at` if there is none.
size_t skip_opaque(std::string_view text, size_t at) {
  if (text[at] == '"') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  const std::string_view rest = text.substr(at);
  const bool line = rest.starts_with("//");
  if (!line && !rest.starts_with("/*")) return at;
  const size_t end = text.find(line ? "\n" : "*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + (line ? 1 : 2);
}

}  // namespace

std::string quote_non_finite(std::string text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = skip_opaque(text, at);
    if (end != at) {
      at = end;
      continue;
    }
    for (const Word& word : kWords) {
      if (text.compare(at, word.python.size(), word.python) != 0) continue;
      const size_t behind = at + word.python.size();
      const bool whole = (at == 0 || !is_word_char(text[at - 1])) &&
                         (behind == text.size() || !is_word_char(text[behind]));
      if (whole) {
        text.replace(at, word.python.size(), word.quoted);
        at = behind - 1;
      }
      break;
    }
    ++at;
  }
  return text;
}

}  // namespace rope_bench
