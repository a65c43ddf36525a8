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

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_WRITERS_H_
