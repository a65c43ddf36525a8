// What every rotation keeps, looked for in outputs alone: evidence that does not rest on the
// reference.
#ifndef ROPE_BENCH_SRC_MEASURE_INVARIANTS_H_
#define ROPE_BENCH_SRC_MEASURE_INVARIANTS_H_

#include <vector>

#include "src/case/result.h"
#include "src/math/table.h"
#include "src/measure/backend.h"

namespace rope_bench {

// Names, properties and tolerances: docs/invariants.md. `view`: the checked launch, in host memory;
// a seeded sample of its tokens is looked at. `args`: the same on the device; the other invariants
// come from launches of a few tokens of their own that read its table. Always the same names in the
// same order. Throws DeviceError, OutOfMemory.
std::vector<Invariant> find_invariants(Backend& backend, const RopeCase& c,
                                       const RopeVariant& variant, const CosSinTable& table,
                                       const RopeKernelArgs& view, const RopeKernelArgs& args);

// Of an output alone, where nothing can be launched: the same names, those that take launches not
// applicable.
std::vector<Invariant> find_invariants(const RopeCase& c, const RopeVariant& variant,
                                       const CosSinTable& table, const RopeKernelArgs& view);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_INVARIANTS_H_
