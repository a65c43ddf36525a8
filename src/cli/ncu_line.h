// The command that shows a --profile run to NVIDIA Nsight Compute.
#ifndef ROPE_BENCH_SRC_CLI_NCU_LINE_H_
#define ROPE_BENCH_SRC_CLI_NCU_LINE_H_

#include <string>
#include <vector>

namespace rope_bench {

// A line for a shell: ncu, told to look at the marked launches of this very command alone and to
// leave clocks and caches as they are. `command_line`: as typed, the program included.
std::string ncu_line(const std::vector<std::string>& command_line);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_NCU_LINE_H_
