#include "tests/math/op_cases.h"

namespace rope_bench {
namespace {

RopeCase base(Op op, Dtype dtype, Pairing pairing) {
  RopeCase c;
  c.op = op;
  c.dtype = dtype;
  c.rope.pairing = pairing;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 32;
  c.rope.rotary_dim = 24;
  c.tokens = 9;
  c.positions.offset = 5;
  c.layout.in_place = false;
  return c;
}

// A norm: over heads or rows, before or after, with weights as w, 1 + w or none, fused or not.
void add_norms(const RopeCase& plain, std::vector<OpCase>* cases) {
  for (const bool row : {false, true}) {
    for (const bool after : {false, true}) {
      for (int kind = 0; kind < 5; ++kind) {
        OpCase one{plain};
        one.c.norm.given = true;
        one.c.norm.span_row = row;
        one.c.norm.after_rotation = after;
        one.c.norm.weight_offset = kind % 2;
        one.with_weights = kind != 2;
        one.c.qkv_bias = kind > 1;
        one.c.norm.round_between = kind == 3;
        if (kind == 4) one.precision = ROPE_PRECISION_UNFUSED;
        cases->push_back(one);
      }
    }
  }
}

}  // namespace

std::string OpCase::text() const {
  std::string text =
      std::string(name(c.op)) + ' ' + info(c.dtype).name + ' ' + info(c.rope.pairing).name;
  if (c.qkv_bias) text += " bias";
  if (c.varlen.padded_output) text += " padded";
  if (c.norm.given) {
    text += c.norm.span_row ? " row" : " head";
    text += c.norm.after_rotation ? " after" : " before";
    text += with_weights ? " offset " + std::to_string(c.norm.weight_offset) : " no weights";
    if (c.norm.round_between) text += " round_between";
  }
  if (precision == ROPE_PRECISION_UNFUSED) text += " unfused";
  return text;
}

std::vector<OpCase> every_op_case() {
  std::vector<OpCase> cases;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    for (const Pairing pairing : {Pairing::kNeox, Pairing::kGptj}) {
      OpCase rope{base(Op::kRope, dtype, pairing)};
      cases.push_back(rope);
      rope.c.layout.q.rotary_offset = 8;
      rope.c.layout.k.rotary_offset = 40;  // behind head_dim
      cases.push_back(rope);
      cases.push_back({base(Op::kRopeBackward, dtype, pairing)});
      cases.push_back({base(Op::kSplitRopeBackward, dtype, pairing)});
      OpCase split{base(Op::kSplitRope, dtype, pairing)};
      cases.push_back(split);
      split.c.qkv_bias = true;
      cases.push_back(split);
      split.precision = ROPE_PRECISION_UNFUSED;
      cases.push_back(split);
      OpCase varlen{base(Op::kVarlenSplitRope, dtype, pairing)};
      varlen.c.varlen.given = true;
      varlen.c.seq_lens = {3, 0, 1, 5};
      cases.push_back(varlen);
      varlen.c.varlen.padded_output = true;
      varlen.c.qkv_bias = true;
      cases.push_back(varlen);
      add_norms(base(Op::kNormSplitRope, dtype, pairing), &cases);
    }
  }
  return cases;
}

std::vector<Mistake> mistakes_of(const OpCase& one) {
  const RopeCase& c = one.c;
  const bool rounds = c.norm.round_between || one.precision == ROPE_PRECISION_UNFUSED;
  std::vector<Mistake> mistakes = {Mistake::kPositionPlusOne};
  if (c.op == Op::kRopeBackward || c.op == Op::kSplitRopeBackward)
    mistakes.push_back(Mistake::kForward);
  if (c.varlen.padded_output) mistakes.push_back(Mistake::kPackedOutput);
  if (c.qkv_bias) {
    mistakes.push_back(Mistake::kNoBias);
    mistakes.push_back(Mistake::kBiasOfNextHead);
  }
  const bool has_steps = c.qkv_bias || c.norm.given;
  if (c.dtype != Dtype::kF32 && has_steps && !rounds && !c.norm.after_rotation)
    mistakes.push_back(Mistake::kStorageBetween);
  if (!c.norm.given) return mistakes;
  mistakes.insert(mistakes.end(), {Mistake::kOtherSpan, Mistake::kNormedValue});
  if (one.with_weights) {
    mistakes.insert(mistakes.end(), {Mistake::kOtherOrder, Mistake::kSwappedWeights});
    if (c.norm.weight_offset != 0) mistakes.push_back(Mistake::kNoOffset);
  }
  // Without weights an order of norm last has one product, and rounds it as it should.
  const bool products = one.with_weights || !c.norm.after_rotation;
  if (!rounds && c.dtype != Dtype::kF32 && products)
    mistakes.push_back(Mistake::kArithmeticStorage);
  if (c.dtype == Dtype::kF32) mistakes.push_back(Mistake::kStatisticsF16);
  return mistakes;
}

}  // namespace rope_bench
