// Every op with every choice that changes its arithmetic, small, and which mistakes each must
// catch.
#ifndef ROPE_BENCH_TESTS_MATH_OP_CASES_H_
#define ROPE_BENCH_TESTS_MATH_OP_CASES_H_

#include <string>
#include <vector>

#include "tests/math/op_problem.h"

namespace rope_bench {

struct OpCase {
  RopeCase c;
  int32_t precision = ROPE_PRECISION_FUSED;
  bool with_weights = true;

  std::string text() const;
};

std::vector<OpCase> every_op_case();
std::vector<Mistake> mistakes_of(const OpCase& one);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MATH_OP_CASES_H_
