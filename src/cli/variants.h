// Every variant that this binary holds, on every device.
#ifndef ROPE_BENCH_SRC_CLI_VARIANTS_H_
#define ROPE_BENCH_SRC_CLI_VARIANTS_H_

#include <vector>

#include "kernels/kernel_api.h"

namespace rope_bench {

std::vector<const RopeVariant*> variants();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_VARIANTS_H_
