// The problems that every kernel must solve, on the CPU, on the host layer and on a GPU.
#ifndef ROPE_BENCH_TESTS_KERNELS_PROBLEM_SPECS_H_
#define ROPE_BENCH_TESTS_KERNELS_PROBLEM_SPECS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/rope_problem.h"

namespace rope_bench::testing {

inline const std::vector<Dtype> kAllDtypes = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
inline const std::vector<Pairing> kBothPairings = {Pairing::kNeox, Pairing::kGptj};

// Op rope: head and rotary dims of real models and around them, one pair, partial.
std::vector<ProblemSpec> dims_specs();
// Op rope: numbers of heads and tokens, gaps, misaligned bases, both widths of positions.
std::vector<ProblemSpec> shapes_specs();
// Op rope: every dtype of a table with every dtype, pairing and width of packets, one pair and
// many; in place and not.
std::vector<ProblemSpec> table_dtype_specs();
// An op with every dtype and pairing; in each of these, every level of a feature meets every
// level of every other that it can go with. Made once.
const std::vector<ProblemSpec>& op_specs(int op);
std::vector<ProblemSpec> all_op_specs();
// Packed tokens of many sequences.
std::vector<ProblemSpec> many_sequences_specs();
// An op whose tokens lie one after the other and whose heads share out evenly, as models have it:
// what the plain kernels are for.
std::vector<ProblemSpec> plain_specs(int op);
// Sequences of T tokens, empty ones among them and one token alone (C049); `behind`: tokens after
// the last are padding (C124).
std::vector<int64_t> sequences_of(int64_t tokens, bool behind);
// An op at what makes its blocks largest: the widest rotation that an angle kernel does, at numbers
// of tokens that give it every config; norms over as many heads as fill a block, and more.
std::vector<ProblemSpec> wide_specs(int op);
// Positions up to 2^31 - 1, for variants that need no table.
std::vector<ProblemSpec> far_position_specs();

// All of them; under sanitizers, where a kernel takes ten times as long, each `stride`-th from
// `first` (modulo `stride`) on.
inline std::vector<ProblemSpec> sampled(const std::vector<ProblemSpec>& specs,
                                        [[maybe_unused]] size_t stride,
                                        [[maybe_unused]] size_t first) {
#ifdef __SANITIZE_ADDRESS__
  std::vector<ProblemSpec> some;
  for (size_t i = first % stride; i < specs.size(); i += stride) some.push_back(specs[i]);
  return some;
#else
  return specs;
#endif
}

// Runs a variant on every spec of its op.
struct SpecRun {
  int computed = 0;
  std::map<std::string, int> refused;  // by reason, numbers replaced by N
};
using LaunchProblem =
    std::function<std::string(Problem&, const RopeVariant&)>;  // empty, or a fault
// Reports each wrong result as a test failure. A spec without a table goes to variants without one
// alone.
SpecRun run_specs(const RopeVariant& variant, const std::vector<ProblemSpec>& specs,
                  const LaunchProblem& launch);

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_PROBLEM_SPECS_H_
