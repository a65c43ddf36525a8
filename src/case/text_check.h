// Is this a text that can be a config at all?
#ifndef ROPE_BENCH_SRC_CASE_TEXT_CHECK_H_
#define ROPE_BENCH_SRC_CASE_TEXT_CHECK_H_

#include "src/case/json_node.h"

namespace rope_bench {

// Throws ConfigError for a text that is empty, binary, UTF-16 or not UTF-8, naming the first bad
// byte.
void require_utf8_text(const Source& source);

// `text` with an underscore for each byte that is not UTF-8: names of files may be any bytes, names
// of cases go into JSON.
std::string as_utf8(std::string text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_TEXT_CHECK_H_
