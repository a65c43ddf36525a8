// --profile: one launch for a profiler to look at.
#ifndef ROPE_BENCH_SRC_MEASURE_PROFILE_H_
#define ROPE_BENCH_SRC_MEASURE_PROFILE_H_

#include "src/measure/backend.h"
#include "src/measure/case_buffers.h"

namespace rope_bench {

// Launches once, so that code is loaded; then, cold, flushes the cache and launches on a set that
// nothing touched, or, warm, on the same set again. Only the second launch is marked
// (Backend::profile), and no other kernel lies in the mark. `buffers`: two sets or more.
void profile_launch(Backend& backend, CaseBuffers& buffers, const RopeVariant& variant,
                    CacheMode cache);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_PROFILE_H_
