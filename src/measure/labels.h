// Labels of a row: where its data lives, and what its numbers must not be taken for. Pure.
#ifndef ROPE_BENCH_SRC_MEASURE_LABELS_H_
#define ROPE_BENCH_SRC_MEASURE_LABELS_H_

#include <string>
#include <vector>

#include "src/case/result.h"

namespace rope_bench {

struct LabelInput {
  Timing timing;  // bandwidth and limit filled in
  ByteCount bytes;
  CacheMode cache = CacheMode::kCold;
  int num_sets = 1;
  DeviceInfo device;
  bool is_host = false;
  double precision = 0.005;  // wanted
};

struct Label {
  std::string name;    // of a row of label_rows()
  std::string reason;  // with figures; empty where the row of the table says it all
};

// hbm | mixed | l2 (CPU: dram | mixed | llc | l2), latency-bound, suspect, unstable, table-warm.
std::vector<Label> labels_of(const LabelInput& input);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_LABELS_H_
