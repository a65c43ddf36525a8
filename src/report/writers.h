// The writers behind the format table.
#ifndef ROPE_BENCH_SRC_REPORT_WRITERS_H_
#define ROPE_BENCH_SRC_REPORT_WRITERS_H_

#include <string>

#include "src/report/format.h"

namespace rope_bench {

std::string write_table(const RunReport& report, const ReportContext& context);
std::string write_json(const RunReport& report, const ReportContext& context);
std::string write_csv(const RunReport& report, const ReportContext& context);
std::string write_jsonl(const RunReport& report, const ReportContext& context);
std::string write_jsonl_row(const Result& row, const RunReport& report);
std::string write_markdown(const RunReport& report, const ReportContext& context);
std::string write_junit(const RunReport& report, const ReportContext& context);
std::string write_google_benchmark(const RunReport& report, const ReportContext& context);
std::string write_github_action_ratios(const RunReport& report, const ReportContext& context);
std::string write_github_action_times(const RunReport& report, const ReportContext& context);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_WRITERS_H_
