#include "src/compare/text.h"

namespace rope_bench {

std::string shown(const std::string& text) { return text.empty() ? "nothing" : "\"" + text + "\""; }

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return text;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '|' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace rope_bench
