// What a run came to: the exit code, the verdict line and the hints below the table.
#ifndef ROPE_BENCH_SRC_REPORT_SUMMARY_H_
#define ROPE_BENCH_SRC_REPORT_SUMMARY_H_

#include <string>

#include "src/case/errors.h"
#include "src/case/result.h"

namespace rope_bench {

// Interrupted first, then internal errors, wrong results, nothing ran.
ExitCode exit_code_of(const RunReport& report);

// "4 cases: 4 passed, worst error 51.2 % of its bound (NAME; exact angles), limit_ratio 0.93-0.99
// (cuda:0, NVIDIA H200; peak 4278 GB/s, floor 0.50 us)"; after an interruption "interrupted: 1 of 4
// cases: ...".
std::string verdict(const RunReport& report);

// Of a failed row, a line without an end: its worst element, how far off it is, its reason.
std::string failure_text(const Result& row);

// Lines, each ended: the worst element of failed rows, reasons of rows that did not run. Empty if
// all passed.
std::string hints(const RunReport& report);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_SUMMARY_H_
