// The CPU device with variants of a test's choice: right ones and planted faults.
#ifndef ROPE_BENCH_TESTS_MEASURE_PLANTED_BACKEND_H_
#define ROPE_BENCH_TESTS_MEASURE_PLANTED_BACKEND_H_

#include <atomic>
#include <memory>

#include "src/measure/backend.h"

namespace rope_bench {

// `launch` becomes the one variant of every op, "fast". As soon as `*lost` is set nothing
// synchronizes any more, as on a device whose context a kernel took with it.
std::unique_ptr<Backend> planted_backend(int32_t (*launch)(const RopeKernelArgs*),
                                         const std::atomic<bool>* lost = nullptr);

// The launch of the real CPU `fast` of the op, for faults to begin with.
int32_t right_launch(const RopeKernelArgs* args);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MEASURE_PLANTED_BACKEND_H_
