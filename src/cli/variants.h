// Every variant that this binary holds, on every device.
#ifndef ROPE_BENCH_SRC_CLI_VARIANTS_H_
#define ROPE_BENCH_SRC_CLI_VARIANTS_H_

#include <vector>

#include "kernels/kernel_api.h"
#include "src/case/rope_case.h"

namespace rope_bench {

std::vector<const RopeVariant*> variants();

// Whether the variant that a case names reads a table: whatever no device has does.
bool uses_table(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_VARIANTS_H_
