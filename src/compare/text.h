#ifndef ROPE_BENCH_SRC_COMPARE_TEXT_H_
#define ROPE_BENCH_SRC_COMPARE_TEXT_H_

#include <string>

namespace rope_bench {

// "nothing", or the text in quotes.
std::string shown(const std::string& text);
// Line breaks and tabs become spaces: names and reasons may hold any text, a table's line only one.
std::string one_line(std::string text);
// One line of a Markdown table's cell: bars are escaped.
std::string markdown_cell(const std::string& text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_TEXT_H_
