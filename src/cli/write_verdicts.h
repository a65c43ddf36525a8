#ifndef ROPE_BENCH_SRC_CLI_WRITE_VERDICTS_H_
#define ROPE_BENCH_SRC_CLI_WRITE_VERDICTS_H_

#include <vector>

#include "src/compare/verdict_table.h"
#include "src/report/output.h"

namespace rope_bench {

// Writes each target, files first; a table on stdout if nothing else claims it, else the summary on
// stderr. Throws OutputError once all were tried.
void write_verdict_table(const VerdictTable& table, const std::vector<OutputTarget>& targets);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_WRITE_VERDICTS_H_
