#include "src/report/escape.h"

#include <cctype>

#include "fmt/format.h"

namespace rope_bench {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Bytes of the UTF-8 sequence at `at`; 0 if there is none: cut short, overlong, a surrogate or
// beyond U+10FFFF.
size_t sequence_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xC2   ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second >= 0xA0) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second >= 0x90) return 0;
  return length;
}

// Every character through `spell`, which sees one UTF-8 sequence and where it lies.
template <class Spell>
std::string spelled(const std::string& text, Spell spell) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_length(text, at);
    out += length == 0 ? kReplacement : spell(text.substr(at, length), at);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string xml_character(const std::string& c) {
  switch (c[0]) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
    case '\n':
    case '\r':
      return fmt::format("&#{};", static_cast<int>(c[0]));
    default:
      break;
  }
  const bool control = static_cast<unsigned char>(c[0]) < 0x20;
  if (control || c == "\xef\xbf\xbe" || c == "\xef\xbf\xbf") return kReplacement;
  return c;
}

bool is_word(const std::string& text, size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

std::string markdown_character(const std::string& text, const std::string& c, size_t at) {
  switch (c[0]) {
    case '\r':
      // Of CRLF, one line end.
      return at + 1 < text.size() && text[at + 1] == '\n' ? "" : "<br>";
    case '\n':
      return "<br>";
    case '\t':
      return " ";
    case '_':
      // Between letters it is no markup, and names are full of it.
      return at > 0 && is_word(text, at - 1) && is_word(text, at + 1) ? "_" : "\\_";
    default:
      break;
  }
  static const std::string kMarkup = "\\`*[]<>&|~";
  return kMarkup.find(c[0]) == std::string::npos ? c : "\\" + c;
}

}  // namespace

std::string xml_escaped(const std::string& text) {
  return spelled(text, [](const std::string& c, size_t) { return xml_character(c); });
}

std::string markdown_escaped(const std::string& text) {
  return spelled(text,
                 [&](const std::string& c, size_t at) { return markdown_character(text, c, at); });
}

}  // namespace rope_bench
