// Text of rows in the grammars of formats: whatever a name holds, a reader gets it back. Bytes that
// are not UTF-8 become U+FFFD, in XML also what it has no spelling for.
#ifndef ROPE_BENCH_SRC_REPORT_ESCAPE_H_
#define ROPE_BENCH_SRC_REPORT_ESCAPE_H_

#include <string>

namespace rope_bench {

// For attributes in double quotes and for text. Tabs and line ends as references: a reader makes
// them spaces in attributes otherwise.
std::string xml_escaped(const std::string& text);

// For a cell of a table (GitHub Flavored Markdown): one line, in which no character is markup.
std::string markdown_escaped(const std::string& text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_ESCAPE_H_
