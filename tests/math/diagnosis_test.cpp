// Wrong outputs are named after the mistake that made them.
#include "src/math/diagnosis.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "src/math/input_warnings.h"
#include "tests/math/op_problem.h"

namespace rope_bench {
namespace {

RopeCase norm_case(Dtype dtype) {
  RopeCase c;
  c.op = Op::kNormSplitRope;
  c.dtype = dtype;
  c.norm.given = true;
  c.norm.weight_offset = 1;
  c.norm.eps = 0.01;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 48;
  c.tokens = 24;
  c.positions.offset = 90;
  c.layout.in_place = false;
  return c;
}

Diagnosis diagnosis_of(const OpProblem& p) {
  return diagnose(p.c, p.variant, p.launch, std::nullopt, p.referenced().worst);
}

TEST(Diagnosis, NamesTheMistakesOfOps) {
  const std::pair<Mistake, const char*> known[] = {
      {Mistake::kNoOffset, "weight_offset"},
      {Mistake::kNoEps, "eps_missing"},
      {Mistake::kSwappedWeights, "weights_swapped"},
      {Mistake::kOtherOrder, "norm_order"},
      {Mistake::kNormedValue, "v_normalised_as_k"},
      {Mistake::kPositionPlusOne, "position_plus_one"},
  };
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    for (const auto& [mistake, name] : known) {
      OpProblem p(norm_case(dtype));
      p.run(mistake);
      EXPECT_EQ(diagnosis_of(p).name, name) << info(dtype).name;
    }
    RopeCase biased = norm_case(dtype);
    biased.qkv_bias = true;
    OpProblem bias(biased);
    bias.run(Mistake::kNoBias);
    EXPECT_EQ(diagnosis_of(bias).name, "bias_missing");
    RopeCase gradient = norm_case(dtype);
    gradient.op = Op::kSplitRopeBackward;
    gradient.norm = {};
    OpProblem forward(gradient);
    forward.run(Mistake::kForward);
    EXPECT_EQ(diagnosis_of(forward).name, "negated_sin");
    if (dtype == Dtype::kF32) continue;
    OpProblem rounded(norm_case(dtype));
    rounded.run(Mistake::kStorageBetween);
    EXPECT_EQ(diagnosis_of(rounded).name, "second_rounding");
  }
}

TEST(Diagnosis, ARightOutputHasNone) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    OpProblem p(norm_case(dtype));
    p.run();
    EXPECT_EQ(diagnosis_of(p).name, "");
  }
}

TEST(Diagnosis, SaysThatNothingExplainsNoise) {
  OpProblem p(norm_case(Dtype::kBF16));
  p.run();
  for (size_t i = 0; i < p.out_of(0).size(); ++i)
    p.out_of(0)[i] ^= static_cast<std::byte>(i * 37 % 5);
  EXPECT_EQ(diagnosis_of(p).name, "none");
  EXPECT_EQ(diagnosis_of(p).text.find("none of the known mistakes"), 0u);
}

// A fault in few rows is named by what these rows look like, and where they are.
TEST(Diagnosis, SaysWhereTheWrongRowsAre) {
  OpProblem right(norm_case(Dtype::kBF16)), wrong(norm_case(Dtype::kBF16));
  right.run();
  wrong.run(Mistake::kOtherOrder);
  for (int64_t dim = 0; dim < 64; ++dim) {
    const auto at = static_cast<size_t>(right.out_index(0, 7, 2, dim)) * 2;
    std::memcpy(&right.out_of(0)[at], &wrong.out_of(0)[at], 2);
  }
  const Diagnosis d = diagnosis_of(right);
  EXPECT_EQ(d.name, "norm_order");
  EXPECT_NE(d.text.find("in q alone"), std::string::npos) << d.text;
  EXPECT_NE(d.text.find("in head 2 of q"), std::string::npos) << d.text;
  EXPECT_NE(d.text.find("in token 7, "), std::string::npos) << d.text;
}

TEST(Diagnosis, ASingleElementHasItsDim) {
  OpProblem p(norm_case(Dtype::kF32));
  p.run();
  for (int64_t t = 0; t < 24; ++t) {
    for (int64_t h = 0; h < 4; ++h)
      p.out_of(0)[static_cast<size_t>(p.out_index(0, t, h, 5)) * 4 + 3] ^= std::byte{0x80};
  }
  const Diagnosis d = diagnosis_of(p);
  EXPECT_EQ(d.name, "none");
  EXPECT_NE(d.text.find("at dim 5"), std::string::npos) << d.text;
}

// The sample of a large output holds the worst token, wherever it is.
TEST(Diagnosis, TheWorstTokenIsLookedAt) {
  RopeCase c = norm_case(Dtype::kBF16);
  c.tokens = 3000;
  OpProblem right(c), wrong(c);
  right.run();
  wrong.run(Mistake::kOtherOrder);
  for (int64_t dim = 0; dim < 64; ++dim) {
    const auto at = static_cast<size_t>(right.out_index(1, 1234, 1, dim)) * 2;
    std::memcpy(&right.out_of(1)[at], &wrong.out_of(1)[at], 2);
  }
  const Diagnosis d = diagnosis_of(right);
  EXPECT_EQ(d.name, "norm_order");
  EXPECT_NE(d.text.find("in token 1234, "), std::string::npos) << d.text;
}

TEST(Diagnosis, WhatNobodyWroteHoldsItsPoison) {
  OpProblem p(norm_case(Dtype::kBF16));
  for (int i = 0; i < 3; ++i) std::memset(p.out_of(i).data(), 0x7f, p.out_of(i).size());
  EXPECT_EQ(diagnose(p.c, p.variant, p.launch, 0x7f, std::nullopt).name, "unwritten");
  EXPECT_EQ(diagnose(p.c, p.variant, p.launch, 0xff, std::nullopt).name, "none");
}

TEST(Diagnosis, NamesAreUniqueAndSentencesThere) {
  std::set<std::string> names;
  for (const KnownMistake& row : evaluated_mistakes()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GT(std::string(row.text).size(), 10u);
  }
  for (const Evidence& row : evidences()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_GE(names.size(), 40u);
  std::ifstream file(DIAGNOSIS_DOC);
  const std::string doc((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const std::string& name : names)
    EXPECT_NE(doc.find("| `" + name + "` |"), std::string::npos) << name;
}

TEST(InputWarnings, NameInputsThatTellNothing) {
  RopeCase c = norm_case(Dtype::kBF16);
  OpProblem p(c);
  EXPECT_TRUE(input_warnings(c, p.launch).empty());
  c.data = DataKind::kConstant;
  OpProblem constant(c);
  EXPECT_EQ(input_warnings(c, constant.launch), std::vector<std::string>({"symmetric-pairs"}));
  for (int64_t t = 0; t < c.tokens; ++t) {
    for (int64_t h = 1; h < 4; ++h) {
      for (int operand = 0; operand < 2 - h / 2; ++operand)
        std::memcpy(&p.in_of(operand)[static_cast<size_t>(p.in_index(operand, t, h, 0)) * 2],
                    &p.in_of(operand)[static_cast<size_t>(p.in_index(operand, t, 0, 0)) * 2], 128);
    }
  }
  EXPECT_EQ(input_warnings(p.c, p.launch), std::vector<std::string>({"identical-heads"}));
}

}  // namespace
}  // namespace rope_bench
