// What a set that timed launches left wrong looks like.
#ifndef ROPE_BENCH_SRC_MEASURE_TIMED_FAULT_H_
#define ROPE_BENCH_SRC_MEASURE_TIMED_FAULT_H_

#include <string>

#include "src/case/result.h"
#include "src/math/table.h"
#include "src/measure/case_buffers.h"

namespace rope_bench {

struct TimedFault {
  std::string where;    // "k[token 2, head 0, dim 3] is 1.5, should be 1.25"
  Diagnosis diagnosis;  // evidence::kTimed, and what the output looks like
};

// Looks at a set as timed launches left it, before anything restores it. `repeats`: launches on it.
// Out of place, and after a single launch, it is compared with the reference and diagnosed. Where
// launches in place followed each other the reference knows no bound for their result: the judge
// says where it is wrong.
TimedFault look_at_timed(const RopeCase& c, const RopeVariant& variant, const CosSinTable& table,
                         CaseBuffers& buffers, int set, int repeats);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_TIMED_FAULT_H_
