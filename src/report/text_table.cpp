#include "src/report/text_table.h"

#include <algorithm>

namespace rope_bench {
namespace {

// Code points: names of cases and devices may hold more than ASCII.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

const char* code(Paint paint) {
  switch (paint) {
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kGreen:
      return "\x1b[32m";
    case Paint::kRed:
      return "\x1b[31m";
    case Paint::kYellow:
      return "\x1b[33m";
    case Paint::kNone:
      break;
  }
  return "";
}

void end_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
}

}  // namespace

std::string painted(const std::string& text, Paint paint, bool color) {
  return color && paint != Paint::kNone && !text.empty() ? code(paint) + text + "\x1b[0m" : text;
}

std::string align_rows(const std::vector<std::vector<TextCell>>& rows,
                       const std::vector<Align>& alignment, bool heading, bool color) {
  std::vector<size_t> widths(alignment.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i].text));
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    const bool is_heading = heading && r == 0;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const TextCell& cell = rows[r][i];
      const std::string padding(widths[i] - width(cell.text), ' ');
      const std::string text = painted(cell.text, is_heading ? Paint::kBold : cell.paint, color);
      if (i > 0) out += "  ";
      out += alignment[i] == Align::kRight ? padding + text : text + padding;
    }
    end_line(out);
    if (!is_heading) continue;
    for (size_t i = 0; i < widths.size(); ++i) {
      out += (i > 0 ? "  " : "") + std::string(widths[i], '-');
    }
    end_line(out);
  }
  return out;
}

}  // namespace rope_bench
