// Whether a case fits, asked before anything of it is allocated.
#ifndef ROPE_BENCH_SRC_MEASURE_MEMORY_H_
#define ROPE_BENCH_SRC_MEASURE_MEMORY_H_

#include "src/case/rope_case.h"
#include "src/measure/backend.h"
#include "src/measure/set_layout.h"

namespace rope_bench {

// Throws OutOfMemory for what the host cannot hold: an overcommitted machine would kill the process
// instead. `reads_table`: some kernel does.
void require_host_memory(const RopeCase& c, bool reads_table, const Backend& backend);

// The same for this many sets on the device; the host's own is asked above.
void require_device_memory(const RopeCase& c, Backend& backend, const SetLayout& layout,
                           int num_sets);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_MEMORY_H_
