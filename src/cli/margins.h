// Flags of commands that judge slowdowns: which is too much.
#ifndef ROPE_BENCH_SRC_CLI_MARGINS_H_
#define ROPE_BENCH_SRC_CLI_MARGINS_H_

#include <string>

#include "src/cli/flags.h"

namespace rope_bench {

struct MarginFlags {
  std::string margin = "2%", floor = "0.3us", file;
};
void add_margin_flags(Flags& flags, MarginFlags& values);

// "2%", "2 %" or "2" -> 0.02. `flag` is named in messages. Throws ConfigError unless 0 < x < 100 %.
double parse_percent(const std::string& flag, const std::string& text);
// "5%" -> 20: one launch more for every 20. Throws ConfigError unless 1 % to 25 %.
int parse_slowdown(const std::string& flag, const std::string& text);
// "0.3us" or "0.3" -> 0.3. Throws ConfigError unless 0 or more.
double parse_microseconds(const std::string& flag, const std::string& text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_MARGINS_H_
