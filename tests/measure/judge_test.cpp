// The device's judge against the Eigen reference: both must say the same of right and of wrong
// outputs of every op.
#include "src/measure/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/math/op_cases.h"
#include "tests/math/op_problem.h"

namespace rope_bench {
namespace {

// Wrong units, as the judge counts them on a device.
int64_t judged(const OpProblem& problem, int repeats = 1) {
  JudgeArgs a;
  a.launch = problem.launch;
  a.positions = problem.rows.table_rows.data();
  a.out_rows = problem.rows.out_rows.data();
  const std::vector<std::byte> table = stored_rows(problem.table, problem.table.rows, 1);
  a.table = table.data();
  a.table_dtype = static_cast<int32_t>(problem.table.dtype);
  a.table_row_stride = problem.table.rotary_dim;
  a.repeats = repeats;
  const Frequencies& f = problem.table.frequencies;
  const std::vector<float> inv_freq(f.exact.begin(), f.exact.end());
  a.launch.inv_freq = inv_freq.data();
  allow_angles(problem.variant, f.attention_factor, &a);
  std::vector<double> scratch(static_cast<size_t>(judge_scratch_bytes(a)) / sizeof(double));
  a.scratch = scratch.data();
  for (int64_t i = 0; i < judge_scale_units(a); ++i) judge_scale(a, i);
  int64_t wrong = 0;
  for (int64_t i = 0; i < judge_units(a); ++i) wrong += judge_unit(a, i) ? 0 : 1;
  return wrong;
}

TEST(Judge, RightOutputsOfEveryOpPassBoth) {
  for (const OpCase& one : every_op_case()) {
    OpProblem problem(one.c, one.precision, one.with_weights);
    problem.run();
    EXPECT_EQ(judged(problem), 0) << one.text();
    const Accuracy a = problem.referenced();
    EXPECT_EQ(a.num_over, 0) << one.text();
    EXPECT_LE(a.max_ulp, a.tolerance_ulp) << one.text();
  }
}

TEST(Judge, EveryKindOfDataPassesBoth) {
  for (const DataKind data :
       {DataKind::kNormal, DataKind::kUniform, DataKind::kWide, DataKind::kSubnormal,
        DataKind::kCancel, DataKind::kLarge, DataKind::kConstant, DataKind::kSpecial}) {
    for (OpCase one : every_op_case()) {
      if (one.c.rope.pairing != Pairing::kNeox) continue;
      one.c.data = data;
      OpProblem problem(one.c, one.precision, one.with_weights);
      problem.run();
      EXPECT_EQ(judged(problem), 0) << one.text() << ' ' << name(data);
      EXPECT_EQ(problem.referenced().num_over, 0) << one.text() << ' ' << name(data);
    }
  }
}

TEST(Judge, MistakesFailBoth) {
  for (const OpCase& one : every_op_case()) {
    for (const Mistake mistake : mistakes_of(one)) {
      OpProblem problem(one.c, one.precision, one.with_weights);
      problem.run(mistake);
      EXPECT_GT(judged(problem), 0) << one.text() << " mistake " << static_cast<int>(mistake);
      EXPECT_GT(problem.referenced().num_over, 0)
          << one.text() << " mistake " << static_cast<int>(mistake);
    }
  }
}

// One wrong element of any operand is seen by both, wherever it lies.
TEST(Judge, OneWrongElementFailsBoth) {
  for (const OpCase& one : every_op_case()) {
    OpProblem right(one.c, one.precision, one.with_weights);
    right.run();
    for (int operand = 0; operand < (right.has_value() ? 3 : 2); ++operand) {
      for (const int64_t dim : {int64_t{0}, int64_t{12}, int64_t{23}, int64_t{24}, int64_t{31}}) {
        OpProblem wrong = right;
        const int64_t last = right.rows.sequence_tokens - 1;
        const int64_t element =
            wrong.out_index(operand, right.rows.out_rows[static_cast<size_t>(last)], 1, dim);
        std::vector<std::byte>& data = wrong.out_of(operand);
        const double value = load_as_double(one.c.dtype, data.data(), element);
        store_rounded(one.c.dtype, data.data(), element, value + 0.25 + std::abs(value));
        EXPECT_EQ(judged(wrong), 1) << one.text() << " operand " << operand << " dim " << dim;
        const Accuracy a = wrong.referenced();
        EXPECT_EQ(a.num_over, 1) << one.text() << " operand " << operand << " dim " << dim;
        EXPECT_EQ(a.worst->tensor, std::string(1, "qkv"[operand]));
        EXPECT_EQ(a.worst->token, last);
        EXPECT_EQ(a.worst->head, 1);
        EXPECT_EQ(a.worst->dim, dim);
      }
    }
  }
}

// Angles in float32, with the bound that they have: against a table of exact ones.
TEST(Judge, FastMathAgreesWithTheReference) {
  for (const OpCase& one : every_op_case()) {
    if (one.c.op != Op::kRope && one.c.op != Op::kNormSplitRope) continue;
    if (one.precision == ROPE_PRECISION_UNFUSED || one.c.rope.pairing != Pairing::kNeox) continue;
    RopeCase c = one.c;
    c.positions.offset = 6000;
    OpProblem problem(c, ROPE_PRECISION_FAST_MATH, one.with_weights);
    problem.variant.uses_table = 0;
    const CosSinTable exact = problem.table;
    const auto both = [&](double hardware, float detune) {
      problem.table = fast_math_table(exact, hardware, detune);
      problem.run();
      problem.table = exact;
      return std::pair{judged(problem), problem.referenced().num_over};
    };
    EXPECT_EQ(both(0x1p-22, 1), std::pair(int64_t{0}, int64_t{0})) << one.text();
    const auto [judge, reference] = both(0, 1 + 0x1p-17f);
    EXPECT_GT(judge, 0) << one.text();
    EXPECT_GT(reference, 0) << one.text();
  }
}

// What lies in the row of a padding token is not the judge's business.
TEST(Judge, PaddingIsNotJudged) {
  for (const OpCase& one : every_op_case()) {
    OpProblem problem(one.c, one.precision, one.with_weights);
    problem.run();
    const auto last = static_cast<size_t>(problem.rows.sequence_tokens - 1);
    const int64_t element = problem.out_index(1, problem.rows.out_rows[last], 0, 31);
    store_rounded(one.c.dtype, problem.out_of(1).data(), element, 77.0);
    EXPECT_EQ(judged(problem), 1) << one.text();
    problem.rows.table_rows[last] = problem.rows.out_rows[last] = -1;
    EXPECT_EQ(judged(problem), 0) << one.text();
  }
}

// Enough elements for roundings that go the other way than an exact trajectory would.
TEST(Judge, RepeatedLaunchesPassWithTheirRepeats) {
  for (OpCase one : every_op_case()) {
    if (one.c.varlen.padded_output || one.c.op == Op::kSplitRopeBackward) continue;
    if (one.c.seq_lens.empty()) one.c.tokens = 40;
    one.c.layout.in_place = true;
    for (const int repeats : {2, 8}) {
      OpProblem problem(one.c, one.precision, one.with_weights);
      problem.run(Mistake::kNone, repeats);
      EXPECT_EQ(judged(problem, repeats), 0) << one.text() << ' ' << repeats;
      EXPECT_GT(judged(problem, repeats - 1), 0) << one.text() << ' ' << repeats;
    }
  }
}

// Results that overflow in one launch are infinities and NaN for the next.
TEST(Judge, RepeatedLaunchesMayLeaveTheRange) {
  for (OpCase one : every_op_case()) {
    if (one.c.varlen.padded_output || one.c.op == Op::kSplitRopeBackward) continue;
    one.c.data = DataKind::kLarge;
    one.c.layout.in_place = true;
    OpProblem problem(one.c, one.precision, one.with_weights);
    problem.run(Mistake::kNone, 3);
    EXPECT_EQ(judged(problem, 3), 0) << one.text();
  }
}

}  // namespace
}  // namespace rope_bench
