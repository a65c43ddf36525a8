// What `-v` says of a row's times and labels.
#ifndef ROPE_BENCH_SRC_REPORT_TIMING_DETAILS_H_
#define ROPE_BENCH_SRC_REPORT_TIMING_DETAILS_H_

#include <string>

#include "src/case/result.h"

namespace rope_bench {

// Name and status; times of a launch by each way of timing, beside those of an empty one; rounds;
// what each label means. Lines, ended.
std::string timing_text(const Result& row, const DeviceInfo& device);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_TIMING_DETAILS_H_
