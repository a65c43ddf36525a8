// Another rope-bench, run to its end.
#ifndef ROPE_BENCH_SRC_CLI_CHILD_H_
#define ROPE_BENCH_SRC_CLI_CHILD_H_

#include <string>
#include <vector>

namespace rope_bench {

struct ChildResult {
  int exit_code = 0;  // 128 + signal if one ended it
  std::string out;    // stdout; stderr is ours
};

// `program`: a path, or a name to look up in PATH. Throws ConfigError if it cannot be started, and
// at the first byte that is not of a JSON object: then it is stopped.
ChildResult run_child(const std::string& program, const std::vector<std::string>& args);

// The path of the program that is running.
std::string this_program();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_CHILD_H_
