#ifndef ROPE_BENCH_SRC_CASE_ROUNDS_H_
#define ROPE_BENCH_SRC_CASE_ROUNDS_H_

namespace rope_bench {

// The 95 % interval of a median, free of any distribution, takes so many rounds: the chance that
// all of fewer lie on one side of it is above 5 %. What stands in its place then is their range.
inline constexpr int kRoundsOfAnInterval = 6;

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_ROUNDS_H_
