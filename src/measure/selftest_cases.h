// What faults are planted in: small cases, each with what some fault needs to show.
#ifndef ROPE_BENCH_SRC_MEASURE_SELFTEST_CASES_H_
#define ROPE_BENCH_SRC_MEASURE_SELFTEST_CASES_H_

#include "src/case/rope_case.h"

namespace rope_bench::selftest_cases {

RopeCase plain();      // bf16, partial, out of place, theta 500000
RopeCase in_place();   // bf16, partial
RopeCase strided();    // the same, with gaps between tokens
RopeCase float32();    // as plain in f32
RopeCase special();    // NaN and infinities
RopeCase yarn();       // an attention factor
RopeCase axes();       // three position axes
RopeCase distant();    // f32, positions up to 131071, all of a head
RopeCase tall();       // more than 65536 tokens
RopeCase normed();     // split QKV, bias, norm with weights, 1 + w, a large eps
RopeCase sequences();  // padding tokens
RopeCase backward();
RopeCase timed();  // warm; many launches fit the time between two disturbances

}  // namespace rope_bench::selftest_cases

#endif  // ROPE_BENCH_SRC_MEASURE_SELFTEST_CASES_H_
