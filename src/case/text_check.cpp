#include "src/case/text_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/case/errors.h"

namespace rope_bench {
namespace {

// Length of the well-formed UTF-8 sequence at `offset`, 0 if there is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
size_t utf8_length(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) -> unsigned {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u;
  };
  const auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string as_utf8(std::string text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text, i);
    if (length == 0) text[i] = '_';
    i += std::max<size_t>(length, 1);
  }
  return text;
}

void require_utf8_text(const Source& source) {
  const std::string_view text = source.text;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw ConfigError(fmt::format("{}: empty; a config is a JSON object", source.label));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw ConfigError(fmt::format("{}: UTF-16 text; save it as UTF-8", source.label));
  }
  for (size_t i = 0; i < text.size();) {
    const size_t length = text[i] == '\0' ? 0 : utf8_length(text, i);
    if (length == 0) {
      throw ConfigError(fmt::format("{}: byte 0x{:02x} is {}; a config is JSON in UTF-8",
                                    place(source, i), static_cast<unsigned char>(text[i]),
                                    text[i] == '\0' ? "not text" : "not UTF-8"));
    }
    i += length;
  }
}

}  // namespace rope_bench
