// Python writes numbers that JSON does not have.
#ifndef ROPE_BENCH_SRC_HF_NON_FINITE_H_
#define ROPE_BENCH_SRC_HF_NON_FINITE_H_

#include <string>

namespace rope_bench {

// The text with NaN, Infinity and -Infinity outside of strings and comments replaced by texts of
// the same length, which no key of ours takes for a number. Offsets stay what they are.
std::string quote_non_finite(std::string text);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_NON_FINITE_H_
