// Cases of every op, small enough to run by the hundred.
#ifndef ROPE_BENCH_TESTS_MEASURE_OP_CASES_H_
#define ROPE_BENCH_TESTS_MEASURE_OP_CASES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "src/measure/runner.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {

inline RopeCase op_case(Op op) {
  RopeCase c;
  c.name = name(op);
  c.op = op;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 32;
  c.tokens = 5;
  c.positions.offset = 3;
  c.max_position = 64;
  c.layout.in_place = op == Op::kRope;
  c.measure.max_time_s = 0.005;
  return c;
}

inline RopeCase sequences() {
  RopeCase c = op_case(Op::kVarlenSplitRope);
  c.seq_lens = {3, 0, 5};
  c.tokens = 10;  // the last two are padding
  return c;
}

inline Result run_one(const RopeCase& c, int32_t (*launch)(const RopeKernelArgs*),
                      bool measure = false) {
  RunOptions options;
  options.measure = measure;
  const std::vector<Result> results = make_runner(planted_backend(launch))->run({c}, options);
  EXPECT_EQ(results.size(), 1u);
  return results.at(0);
}

// 16-bit elements of an output.
inline uint16_t* out16(const RopeTensor& t) { return static_cast<uint16_t*>(t.out); }

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MEASURE_OP_CASES_H_
