// The command table: one row drives parsing, --help and "did you mean".
#ifndef ROPE_BENCH_SRC_CLI_COMMAND_H_
#define ROPE_BENCH_SRC_CLI_COMMAND_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/case/errors.h"
#include "src/cli/flags.h"

namespace rope_bench {

struct Invocation {
  std::vector<std::string> command_line;  // as typed, argv[0] included
};

// Runs after parsing; owns the values of its flags.
using Action = std::function<ExitCode(const Invocation&)>;

struct Command {
  const char* name;
  const char* usage;  // what follows the name
  const char* summary;
  const char* examples;  // lines, for --help
  Action (*setup)(Flags& flags);
};

std::span<const Command> commands();

Action setup_run(Flags& flags);
Action setup_list(Flags& flags);
Action setup_describe(Flags& flags);
Action setup_table(Flags& flags);
Action setup_env(Flags& flags);
Action setup_schema(Flags& flags);
Action setup_selftest(Flags& flags);
Action setup_verify(Flags& flags);
Action setup_compare(Flags& flags);
Action setup_gate(Flags& flags);
Action setup_calibrate(Flags& flags);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_COMMAND_H_
