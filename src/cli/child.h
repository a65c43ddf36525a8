// Another rope-bench, run to its end.
#ifndef ROPE_BENCH_SRC_CLI_CHILD_H_
#define ROPE_BENCH_SRC_CLI_CHILD_H_

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rope_bench {

struct ChildResult {
  int exit_code = 0;  // 128 + signal if one ended it
  std::string out;    // stdout; stderr is ours
};

// It did not end in time. Ends the program with ExitCode::kInternal.
class NoAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `program`: a path, or a name to look up in PATH. nullopt: interrupted. Throws ConfigError if it
// cannot be started, and at the first byte that is not of a JSON object; NoAnswer if it has not
// ended after `most_seconds`. In all these cases it is killed, with what it started.
std::optional<ChildResult> run_child(const std::string& program,
                                     const std::vector<std::string>& args, double most_seconds);

// The path of the program that is running.
std::string this_program();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_CHILD_H_
