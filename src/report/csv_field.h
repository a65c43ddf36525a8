#ifndef ROPE_BENCH_SRC_REPORT_CSV_FIELD_H_
#define ROPE_BENCH_SRC_REPORT_CSV_FIELD_H_

#include <string>

namespace rope_bench {

// RFC 4180: a field with a comma, a quote or a line break is quoted, quotes in it are doubled.
std::string csv_field(const std::string& text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_CSV_FIELD_H_
