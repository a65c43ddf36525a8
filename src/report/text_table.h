// Aligned columns of text.
#ifndef ROPE_BENCH_SRC_REPORT_TEXT_TABLE_H_
#define ROPE_BENCH_SRC_REPORT_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace rope_bench {

enum class Align { kLeft, kRight };
enum class Paint { kNone, kBold, kGreen, kRed, kYellow };

struct TextCell {
  std::string text;
  Paint paint = Paint::kNone;
};

// Rows of one length, two spaces between columns, no trailing spaces. The first row is a heading
// where `heading` is set: bold, a rule below it.
std::string align_rows(const std::vector<std::vector<TextCell>>& rows,
                       const std::vector<Align>& alignment, bool heading, bool color);

// `text` in `paint`, if colours are wanted.
std::string painted(const std::string& text, Paint paint, bool color);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_TEXT_TABLE_H_
