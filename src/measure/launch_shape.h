// The arguments of a launch that follow from the case alone.
#ifndef ROPE_BENCH_SRC_MEASURE_LAUNCH_SHAPE_H_
#define ROPE_BENCH_SRC_MEASURE_LAUNCH_SHAPE_H_

#include "kernels/kernel_api.h"
#include "src/case/operands.h"

namespace rope_bench {

// Everything but pointers, the table's rows, factor and axes, threads and stream.
RopeKernelArgs launch_shape(const RopeCase& c, const Operands& operands);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_LAUNCH_SHAPE_H_
