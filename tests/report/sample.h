// A hand-made run with every kind of row, for tests of formats.
#ifndef ROPE_BENCH_TESTS_REPORT_SAMPLE_H_
#define ROPE_BENCH_TESTS_REPORT_SAMPLE_H_

#include <string>

#include "src/report/format.h"

namespace rope_bench {

// Passed and measured, failed, unsupported (text that needs quoting) and without tokens.
RunReport sample_report();
ReportContext sample_context();

Result passed_row();
Result failed_row();
Result unsupported_row();
Result empty_row();

std::string read_file(const std::string& path);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_REPORT_SAMPLE_H_
