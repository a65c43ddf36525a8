// How much of a case is looked at, and for what.
#ifndef ROPE_BENCH_SRC_MEASURE_CHECK_OPTIONS_H_
#define ROPE_BENCH_SRC_MEASURE_CHECK_OPTIONS_H_

#include <cstdint>

namespace rope_bench {

struct CheckOptions {
  // Elements of an output up to which all tokens are compared in double: about a second on 16
  // cores. Of larger ones a sample of an eighth of that is, and the device judges every element.
  int64_t most_elements = int64_t{1} << 27;
  // Also look for what every rotation keeps: some ten launches of a few tokens.
  bool invariants = false;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_CHECK_OPTIONS_H_
