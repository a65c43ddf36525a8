// Whether the inputs of a launch can tell a right kernel from a wrong one.
#ifndef ROPE_BENCH_SRC_MATH_INPUT_WARNINGS_H_
#define ROPE_BENCH_SRC_MATH_INPUT_WARNINGS_H_

#include <string>
#include <vector>

#include "kernels/kernel_api.h"
#include "src/case/rope_case.h"

namespace rope_bench {

// Labels, from the first tokens of q and k (host memory):
//   symmetric-pairs  in every pair x = y, in either pairing: half of all wrong pairings and signs
//                    agree with the right one
//   identical-heads  all heads of a token are the same: heads may be exchanged
std::vector<std::string> input_warnings(const RopeCase& c, const RopeKernelArgs& launch);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_INPUT_WARNINGS_H_
