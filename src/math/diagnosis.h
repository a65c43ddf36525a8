// What a wrong output looks like: a seeded sample of its rows is judged again under each known
// mistake, within the same bounds.
#ifndef ROPE_BENCH_SRC_MATH_DIAGNOSIS_H_
#define ROPE_BENCH_SRC_MATH_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/kernel_api.h"
#include "src/case/result.h"
#include "src/math/mistakes.h"

namespace rope_bench {

Diagnosis to_diagnosis(const Evidence& evidence);

// Names the first mistake that explains every wrong row of the sample, and says where those rows
// are if others are right. `launch` as for check_launch(). `poison`: the byte that outputs held
// before the launch. `worst`: its token is in the sample. Empty if no row of the sample is wrong.
Diagnosis diagnose(const RopeCase& c, const RopeVariant& variant, const RopeKernelArgs& launch,
                   std::optional<uint8_t> poison, const std::optional<WorstElement>& worst);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_DIAGNOSIS_H_
