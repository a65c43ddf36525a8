// What a case may ask for today. What it asks beyond that becomes a row `unsupported`, never
// something ignored.
#ifndef ROPE_BENCH_SRC_MEASURE_SUPPORTED_H_
#define ROPE_BENCH_SRC_MEASURE_SUPPORTED_H_

#include <string>

#include "src/case/rope_case.h"

namespace rope_bench {

// Empty, or why no device runs this case.
std::string why_unsupported(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_SUPPORTED_H_
