// The check of a case: launches, the reference, the device's judge, and what must not change.
#ifndef ROPE_BENCH_SRC_MEASURE_CASE_CHECK_H_
#define ROPE_BENCH_SRC_MEASURE_CASE_CHECK_H_

#include <functional>
#include <string>

#include "src/case/result.h"
#include "src/measure/backend.h"
#include "src/measure/case_buffers.h"
#include "src/measure/check_options.h"

namespace rope_bench {

// The row is wrong: one more reason. The first that has a diagnosis names it.
void fail(Result* result, const std::string& reason, const Diagnosis& diagnosis = {});

// Fails the row if a launch changed what it must not.
void check_damage(CaseBuffers& buffers, Result* result);

// Two launches on outputs with different poisons. The first is compared with the reference, element
// by element, or where there are more than options.most_elements in a sample of tokens; the second
// is of the negated inputs, so that an output kept from the first is wrong, and the device's judge
// looks at both. A wrong row gets its diagnosis. False: interrupted.
bool check_case(Backend& backend, const RopeCase& c, const RopeVariant& variant,
                const CosSinTable& table, const CheckOptions& options, CaseBuffers& buffers,
                const std::function<bool()>& interrupted, Result* result);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_CASE_CHECK_H_
