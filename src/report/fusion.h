// What fusing saves: rows of variant `unfused` beside rows of the same case in another variant.
#ifndef ROPE_BENCH_SRC_REPORT_FUSION_H_
#define ROPE_BENCH_SRC_REPORT_FUSION_H_

#include <string>
#include <vector>

#include "src/case/result.h"

namespace rope_bench {

struct FusionPair {
  const Result* fused = nullptr;
  const Result* unfused = nullptr;
  double saved_us() const;
  double saved_time_percent() const;
  int64_t saved_bytes() const;
  double saved_bytes_percent() const;
};

// Both timed, in the order of the fused rows.
std::vector<FusionPair> fusion_pairs(const RunReport& report);

// A line for each pair, ended.
std::string fusion_lines(const RunReport& report);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_FUSION_H_
