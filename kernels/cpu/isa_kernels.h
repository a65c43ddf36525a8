// The table that each instruction set level fills: one translation unit per level, compiled with
// that level's flags, and nothing but this struct visible of it.
#ifndef ROPE_BENCH_KERNELS_CPU_ISA_KERNELS_H_
#define ROPE_BENCH_KERNELS_CPU_ISA_KERNELS_H_

#include <stdint.h>

#include "kernels/kernel_api.h"

namespace rope_bench {

// Works on rows [begin, end) of the launch; row = token * heads_of(args) + head.
using RowsFn = void (*)(const RopeKernelArgs& args, int64_t begin, int64_t end);
// The same for whole tokens, with room for a row of float32 (and a vector more) in `scratch`.
using TransformFn = void (*)(const RopeKernelArgs& args, int64_t begin, int64_t end, int steps,
                             float* scratch);

// Steps of an op that a transformation does.
enum { kStepBias = 1, kStepNorm = 2, kStepRotate = 4, kAllSteps = 7 };
constexpr int64_t kScratchMargin = 16;  // floats behind a row: the widest vector

// Index of the stores: kCached leave their lines in the caches, kStreamed bypass them.
enum { kCached = 0, kStreamed = 1 };

struct IsaKernels {
  RowsFn rotate[3][2][2];       // [dtype][pairing][stores]: ops without norm and bias
  TransformFn transform[3][2];  // [dtype][pairing]: the other ones
  RowsFn copy[2];               // [stores]: the same traffic, no arithmetic
};

// The table of the level chosen in cpu_tuning().
const IsaKernels& isa_kernels();

extern const IsaKernels kBaselineKernels;
#if defined(__x86_64__)
extern const IsaKernels kAvx2Kernels;
extern const IsaKernels kAvx512Kernels;
extern const IsaKernels kAvx512Bf16Kernels;
#endif

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_ISA_KERNELS_H_
