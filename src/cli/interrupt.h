// Ctrl-C, SIGTERM and SIGHUP: the first one asks the run to end, the second one kills.
#ifndef ROPE_BENCH_SRC_CLI_INTERRUPT_H_
#define ROPE_BENCH_SRC_CLI_INTERRUPT_H_

namespace rope_bench {

void catch_interrupt();

// Writing to a reader that left fails instead of killing: other outputs are still to be written.
void ignore_closed_pipes();
bool interrupted();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_INTERRUPT_H_
