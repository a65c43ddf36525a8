// Memory bandwidth of boards, for speed-of-light times on machines that do not have them.
#ifndef ROPE_BENCH_SRC_CLI_BOARDS_H_
#define ROPE_BENCH_SRC_CLI_BOARDS_H_

#include <span>
#include <string>

namespace rope_bench {

struct Board {
  const char* name;
  double peak_gb_s;  // of the vendor's data sheet, 1 GB = 1e9 bytes
};

std::span<const Board> boards();

// Case, spaces and hyphens do not matter. Throws ConfigError with the known names.
const Board& board_named(const std::string& name);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_BOARDS_H_
