// Configs of one case each, drawn from a number: ops, dtypes, pairings, partial and offset
// rotation, scalings, position axes, norms, shapes, layouts, positions and kinds of data, in any
// combination.
#ifndef ROPE_BENCH_TESTS_MEASURE_RANDOM_CONFIG_H_
#define ROPE_BENCH_TESTS_MEASURE_RANDOM_CONFIG_H_

#include <cstdint>
#include <string>

namespace rope_bench {

// JSON for parse_config(). The same number gives the same text. Some combinations make no sense,
// and are refused by the reader.
std::string random_config(uint64_t number);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MEASURE_RANDOM_CONFIG_H_
