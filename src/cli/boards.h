// Memory bandwidth of boards, for speed-of-light times on machines that do not have them.
#ifndef ROPE_BENCH_SRC_CLI_BOARDS_H_
#define ROPE_BENCH_SRC_CLI_BOARDS_H_

#include <span>
#include <string>

#include "src/case/result.h"

namespace rope_bench {

struct Board {
  const char* name;
  double peak_gb_s;       // of the vendor's data sheet, 1 GB = 1e9 bytes
  const char* models[2];  // what the driver calls it; null: nothing more
};

std::span<const Board> boards();

// Case, spaces and hyphens do not matter. Throws ConfigError with the known names.
const Board& board_named(const std::string& name);

// Where a board of the table says that it has another theoretical peak, or none: a line about it.
// Else empty.
std::string peak_note(const DeviceInfo& device);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_BOARDS_H_
