// What is wrong with the parameters of cases, asked while a config is read.
#ifndef ROPE_BENCH_SRC_MATH_SCALING_CHECK_H_
#define ROPE_BENCH_SRC_MATH_SCALING_CHECK_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "src/case/rope_case.h"

namespace rope_bench {

// Empty, or why frequencies_of() refuses the case. Each distinct parameter set is tried once, at
// each length only where the length may be refused (length_rule). Long drawn runs, whose length
// nobody knows before drawing, are left to the run itself.
class ScalingCheck {
 public:
  std::string operator()(const RopeCase& c);

 private:
  // All that frequencies depend on.
  using Key = std::tuple<std::string, std::map<std::string, ScalingValue>, double, double, int64_t,
                         std::string, std::optional<int64_t>, int64_t>;
  std::map<Key, std::string> known_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_SCALING_CHECK_H_
