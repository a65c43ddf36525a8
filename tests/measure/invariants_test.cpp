// What every rotation keeps: held by right kernels of every kind, and which of them a wrong kernel
// breaks.
#include "src/measure/invariants.h"

#include <gtest/gtest.h>

#include <map>

#include "src/math/numeric.h"
#include "src/measure/runner.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {
namespace {

RopeCase small_case() {
  RopeCase c;
  c.name = "small";
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 32;
  c.tokens = 40;
  c.max_position = 64;
  c.layout.in_place = false;
  return c;
}

Result run(const RopeCase& c, int32_t (*launch)(const RopeKernelArgs*) = right_launch) {
  RunOptions options;
  options.measure = false;
  options.checks.invariants = true;
  return make_runner(planted_backend(launch))->run({c}, options).at(0);
}

std::map<std::string, Holds> found(const Result& r) {
  std::map<std::string, Holds> all;
  for (const Invariant& i : r.invariants) all[i.name] = i.holds;
  return all;
}

TEST(Invariants, NobodyAsked) {
  RunOptions options;
  options.measure = false;
  const auto rows = make_runner(planted_backend(right_launch))->run({small_case()}, options);
  EXPECT_TRUE(rows.at(0).invariants.empty());
}

TEST(Invariants, RightKernelsKeepAll) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    for (const Pairing pairing : {Pairing::kNeox, Pairing::kGptj}) {
      for (const Op op : {Op::kRope, Op::kSplitRope, Op::kRopeBackward, Op::kSplitRopeBackward}) {
        for (const TableAngle angle : {TableAngle::kExact, TableAngle::kFloat32}) {
          RopeCase c = small_case();
          c.op = op;
          c.dtype = dtype;
          c.rope.pairing = pairing;
          c.rope.table.angle = angle;
          c.rope.scaling = {"yarn", {{"factor", 4.0}, {"original_max_position_embeddings", 32.0}}};
          const Result r = run(c);
          EXPECT_EQ(r.status, Status::kPassed) << r.reason;
          EXPECT_TRUE(r.labels.empty());
          EXPECT_EQ(r.invariants.size(), 6u);
          for (const Invariant& i : r.invariants)
            EXPECT_EQ(i.holds, Holds::kHeld)
                << name(op) << " " << info(dtype).name << " " << i.name << ": " << i.value << " of "
                << i.tolerance << i.reason;
        }
      }
    }
  }
}

// The tolerance is of the size of the roundings: a hundredth of a turn's error is far beyond it.
TEST(Invariants, TolerancesAreTight) {
  RopeCase c = small_case();
  c.dtype = Dtype::kF32;
  const Result r = run(c);
  for (const Invariant& i : r.invariants) {
    // Inputs are below 5, so pairs below 7.1; a score is below 16 pairs of 7.1 * 7.1.
    const double size = i.name == "relative_position" ? 16 * 7.1 * 7.1 : 7.1;
    EXPECT_LT(i.tolerance, 1e-5 * size) << i.name;
  }
}

// What each fault breaks, and what it leaves.
struct Fault {
  const char* text;
  int32_t (*launch)(const RopeKernelArgs*);
  std::vector<const char*> broken;
};

template <typename Change>
void change_outputs(const RopeKernelArgs* args, const Change& change) {
  for (const RopeTensor* t : {&args->q, &args->k}) {
    for (int64_t token = 0; token < args->num_tokens; ++token) {
      for (int64_t i = 0; i < t->num_heads * t->out_head_stride; ++i) {
        const int64_t at = token * t->out_token_stride + i;
        const auto dtype = static_cast<Dtype>(args->dtype);
        store_rounded(dtype, t->out, at, change(load_as_double(dtype, t->out, at)));
      }
    }
  }
}

const Fault kFaults[] = {
    {"everything twice as large",
     [](const RopeKernelArgs* args) {
       right_launch(args);
       change_outputs(args, [](double x) { return 2 * x; });
       return 0;
     },
     {"norms_kept", "backward_inverts", "positions_add"}},
    {"k's head 1 read from its head 0",
     [](const RopeKernelArgs* args) {
       RopeKernelArgs other = *args;
       other.k.num_heads = 1;
       right_launch(&other);
       const auto* bytes = static_cast<const std::byte*>(args->k.out);
       other.k.out = const_cast<std::byte*>(bytes) + args->head_dim * 4;
       right_launch(&other);
       return 0;
     },
     {"norms_kept", "head_map", "backward_inverts"}},
    {"k turns the other way",
     [](const RopeKernelArgs* args) {
       right_launch(args);
       RopeKernelArgs other = *args;
       other.op = ROPE_OP_ROPE_BACKWARD;
       other.q = args->k;
       return right_launch(&other);
     },
     {"relative_position"}},
    {"every position one too large",
     [](const RopeKernelArgs* args) {
       std::vector<int32_t> later(static_cast<size_t>(args->num_tokens));
       const auto* positions = static_cast<const int32_t*>(args->positions);
       for (size_t t = 0; t < later.size(); ++t)
         later[t] = std::min(positions[t] + 1, static_cast<int32_t>(args->table_rows) - 1);
       RopeKernelArgs other = *args;
       other.positions = later.data();
       return right_launch(&other);
     },
     {"positions_add"}},
    {"one pairing for both",
     [](const RopeKernelArgs* args) {
       RopeKernelArgs other = *args;
       other.pairing = ROPE_PAIRING_GPTJ;
       return right_launch(&other);
     },
     {"pairings_agree"}},
};

TEST(Invariants, WrongKernelsBreakThem) {
  for (const Fault& fault : kFaults) {
    RopeCase c = small_case();
    c.dtype = Dtype::kF32;
    const Result r = run(c, fault.launch);
    EXPECT_EQ(r.status, Status::kFailed);
    const auto invariants = found(r);
    for (const char* name : fault.broken)
      EXPECT_EQ(invariants.at(name), Holds::kViolated) << fault.text << ": " << name;
    EXPECT_TRUE(r.labels.empty()) << fault.text;  // the check has said it
  }
}

// A wrong kernel that keeps lengths and orders breaks nothing else.
TEST(Invariants, PositionsOneTooLargeKeepTheRest) {
  RopeCase c = small_case();
  c.dtype = Dtype::kF32;
  const auto invariants = found(run(c, kFaults[3].launch));
  for (const char* name : {"norms_kept", "head_map", "backward_inverts", "pairings_agree"})
    EXPECT_EQ(invariants.at(name), Holds::kHeld) << name;
}

TEST(Invariants, WhatDoesNotApplySaysWhy) {
  const auto reason = [](const RopeCase& c, const std::string& name) {
    const Result r = run(c);
    EXPECT_EQ(r.status, Status::kPassed) << r.reason;
    for (const Invariant& i : r.invariants) {
      if (i.name == name && i.holds == Holds::kNotApplicable) return i.reason;
    }
    return std::string("it applies");
  };
  RopeCase normed = small_case();
  normed.op = Op::kNormSplitRope;
  normed.norm.given = true;
  EXPECT_EQ(reason(normed, "norms_kept"), "a norm changes lengths");
  EXPECT_EQ(reason(normed, "relative_position"), "it applies");
  normed.norm.after_rotation = true;
  EXPECT_EQ(reason(normed, "relative_position"), "the norm follows the rotation");
  RopeCase biased = small_case();
  biased.op = Op::kSplitRope;
  biased.qkv_bias = true;
  EXPECT_EQ(reason(biased, "backward_inverts"), "a bias changes lengths");
  RopeCase first = small_case();
  first.tokens = 1;
  EXPECT_EQ(reason(first, "positions_add"), "position 0 is the only one in use");
  RopeCase sequences = small_case();
  sequences.op = Op::kVarlenSplitRope;
  sequences.seq_lens = {3, 0, 5};
  sequences.tokens = 8;
  EXPECT_EQ(reason(sequences, "backward_inverts"), "op varlen_split_rope has no other direction");
  EXPECT_EQ(reason(sequences, "positions_add"), "it applies");
}

}  // namespace
}  // namespace rope_bench
