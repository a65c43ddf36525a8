// The program: arguments in, exit code out.
#ifndef ROPE_BENCH_SRC_CLI_CLI_H_
#define ROPE_BENCH_SRC_CLI_CLI_H_

#include <string>
#include <vector>

#include "src/case/errors.h"

namespace rope_bench {

// `args` with argv[0]. Throws ConfigError for usage and config errors, NoGpu, and whatever breaks.
ExitCode run_cli(const std::vector<std::string>& args);

// run_cli, with exceptions turned into one line on stderr and an exit code.
int cli_main(const std::vector<std::string>& args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_CLI_H_
