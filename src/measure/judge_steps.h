// The units that a launch is judged by, and an op's steps on one of them.
#ifndef ROPE_BENCH_SRC_MEASURE_JUDGE_STEPS_H_
#define ROPE_BENCH_SRC_MEASURE_JUDGE_STEPS_H_

#include <cmath>
#include <cstdint>

#include "kernels/kernel_api.h"
#include "kernels/pairing.h"
#include "src/measure/judge_math.h"

namespace rope_bench {

struct JudgeArgs {
  // As launched, but for: inputs are pristine. All pointers of this struct lie on the device.
  RopeKernelArgs launch{};
  int32_t precision = ROPE_PRECISION_FUSED;  // of the variant
  int32_t repeats = 1;                       // how often the launch was applied to the same data
  // [num_tokens]: row of the table; negative: padding. Row of the outputs; null: token t is row t.
  const int64_t* positions = nullptr;
  const int64_t* out_rows = nullptr;
  // [rows, rotary_dim], for a variant without a table that of exact angles in float32.
  const void* table = nullptr;
  int64_t table_row_stride = 0;
  int32_t table_dtype = ROPE_DTYPE_F32;
  // What a variant without a table may be off by, per |x| + |y|: allow_angles(). Per radian
  // with launch.inv_freq, and the position or launch.axis_positions.
  double angle_absolute = 0, angle_per_radian = 0;
  void* scratch = nullptr;  // judge_scratch_bytes()
};

// Sets what `variant` may be off by.
inline void allow_angles(const RopeVariant& variant, double attention_factor, JudgeArgs* args) {
  const bool uses_table = variant.uses_table != 0;
  const auto error = error_model::angle_error(uses_table, variant.precision);
  // The judge's own table is rounded as well.
  const double table = uses_table ? 0 : error_model::kUnit;
  args->precision = variant.precision;
  args->angle_absolute = std::abs(attention_factor) * (error.absolute + table);
  args->angle_per_radian = std::abs(attention_factor) * error.per_radian;
}

namespace judge {

// What judge_scale() leaves for judge_unit().
struct SpanScale {
  double scale, relative, beyond;
};

ROPE_JUDGE_FN int64_t width_of(const RopeKernelArgs& l, const RopeTensor& t) {
  const int64_t end = int64_t{t.rotary_offset} + l.rotary_dim;
  return end > l.head_dim ? end : l.head_dim;
}
ROPE_JUDGE_FN int64_t units_per_head(const RopeKernelArgs& l, const RopeTensor& t) {
  return width_of(l, t) - l.rotary_dim / 2;
}
// Of q and k.
ROPE_JUDGE_FN int64_t num_elements(const RopeKernelArgs& l) {
  return l.num_tokens * (int64_t{l.q.num_heads} + l.k.num_heads) * l.head_dim;
}
ROPE_JUDGE_FN int64_t num_spans(const RopeKernelArgs& l) {
  return l.num_tokens * (l.norm == ROPE_NORM_ROW ? 2 : int64_t{l.q.num_heads} + l.k.num_heads);
}

// Heads [first_head, first_head + heads) of operand 0 (q) or 1 (k) of a token.
struct SpanPlace {
  int64_t token;
  int32_t operand;
  int64_t first_head, heads;
};
ROPE_JUDGE_FN SpanPlace span_at(const RopeKernelArgs& l, int64_t index) {
  if (l.norm == ROPE_NORM_ROW) {
    const auto operand = static_cast<int32_t>(index % 2);
    return {index / 2, operand, 0, operand == 0 ? l.q.num_heads : l.k.num_heads};
  }
  const int64_t heads = int64_t{l.q.num_heads} + l.k.num_heads;
  const int64_t head = index % heads;
  const bool is_q = head < l.q.num_heads;
  return {index / heads, is_q ? 0 : 1, is_q ? head : head - l.q.num_heads, 1};
}

// Operand 2 is v. A pair, or one element, whose dims are `first` and `second`.
struct Unit {
  const RopeTensor* tensor;
  int32_t operand;
  int64_t token, head, in, out;  // elements to the head row
  int64_t index;                 // in the head
  bool pair;
  int64_t first, second;
  double c, s, angle;  // of a pair; s negated for backward
};

ROPE_JUDGE_FN int64_t span_of(const RopeKernelArgs& l, const Unit& u) {
  if (l.norm == ROPE_NORM_ROW) return 2 * u.token + u.operand;
  const int64_t heads = int64_t{l.q.num_heads} + l.k.num_heads;
  return u.token * heads + (u.operand == 0 ? 0 : l.q.num_heads) + u.head;
}

ROPE_JUDGE_FN int64_t row_start(int64_t row, int64_t batch_rows, int64_t batch_stride,
                                int64_t row_stride) {
  if (batch_rows == 0) return row * row_stride;
  return row / batch_rows * batch_stride + row % batch_rows * row_stride;
}

ROPE_JUDGE_FN Unit unit_of_head(const JudgeArgs& a, int32_t operand, int64_t token, int64_t head) {
  const RopeKernelArgs& l = a.launch;
  const RopeTensor& t = operand == 0 ? l.q : operand == 1 ? l.k : l.v;
  const int64_t out_row = a.out_rows == nullptr ? token : a.out_rows[token];
  const int64_t in = row_start(token, l.in_batch_tokens, t.in_batch_stride, t.in_token_stride);
  const int64_t out =
      row_start(out_row, l.out_batch_tokens, t.out_batch_stride, t.out_token_stride);
  return {&t,
          operand,
          token,
          head,
          in + head * t.in_head_stride,
          out + head * t.out_head_stride,
          0,
          false,
          0,
          0,
          1,
          0,
          0};
}

// Angle error per |x| + |y| of pair i.
ROPE_JUDGE_FN double angle_allowance(const JudgeArgs& a, int64_t token, int64_t i) {
  if (a.angle_per_radian == 0) return a.angle_absolute;
  const RopeKernelArgs& l = a.launch;
  int64_t position = a.positions[token];
  if (l.axis_positions != nullptr) {
    const int64_t at = l.pair_axis[i] * l.num_tokens + token;
    position = l.position_bits == 64 ? static_cast<const int64_t*>(l.axis_positions)[at]
                                     : static_cast<const int32_t*>(l.axis_positions)[at];
  }
  const double radians = static_cast<double>(position) * fabs(static_cast<double>(l.inv_freq[i]));
  return a.angle_absolute + a.angle_per_radian * radians;
}

// Makes `unit` number `index` of its head.
ROPE_JUDGE_FN void select(const JudgeArgs& a, int64_t index, Unit* unit) {
  const RopeKernelArgs& l = a.launch;
  const int32_t half = l.rotary_dim / 2;
  unit->index = index;
  unit->pair = unit->operand != 2 && index < half;
  if (!unit->pair) {
    const int64_t dim = unit->operand == 2 ? index : index - half;
    const bool behind = unit->operand != 2 && dim >= unit->tensor->rotary_offset;
    unit->first = behind ? dim + l.rotary_dim : dim;
    return;
  }
  const auto pairing = static_cast<Pairing>(l.pairing);
  const auto i = static_cast<int32_t>(index);
  unit->first = unit->tensor->rotary_offset + pair_first(pairing, i);
  unit->second = unit->tensor->rotary_offset + pair_second(pairing, i, l.rotary_dim);
  const int64_t row = a.positions[unit->token] * a.table_row_stride;
  unit->c = number_at(a.table, a.table_dtype, row + i);
  unit->s = number_at(a.table, a.table_dtype, row + half + i);
  if (l.op == ROPE_OP_ROPE_BACKWARD || l.op == ROPE_OP_SPLIT_ROPE_BACKWARD) unit->s = -unit->s;
  unit->angle = angle_allowance(a, unit->token, i);
}

ROPE_JUDGE_FN Unit unit_at(const JudgeArgs& a, int64_t index) {
  const RopeKernelArgs& l = a.launch;
  const RopeTensor* tensors[3] = {&l.q, &l.k, &l.v};
  int32_t operand = 0;
  int64_t per_head = 0;
  for (;; ++operand) {
    per_head = operand == 2 ? l.head_dim : units_per_head(l, *tensors[operand]);
    const int64_t units = l.num_tokens * tensors[operand]->num_heads * per_head;
    if (operand == 2 || index < units) break;
    index -= units;
  }
  const int64_t row = index / per_head, heads = tensors[operand]->num_heads;
  Unit unit = unit_of_head(a, operand, row / heads, row % heads);
  // Padding has no row of the table.
  if (a.positions[unit.token] >= 0) select(a, index % per_head, &unit);
  return unit;
}

// The two numbers of a pair, or `x` alone.
struct Both {
  Expected x, y;
};
ROPE_JUDGE_FN Both loaded(const JudgeArgs& a, const Unit& u) {
  const int32_t dtype = a.launch.dtype;
  Both both{{number_at(u.tensor->in, dtype, u.in + u.first), 0, 0, false}, {0, 0, 0, false}};
  if (u.pair) both.y.value = number_at(u.tensor->in, dtype, u.in + u.second);
  return both;
}

ROPE_JUDGE_FN double bias_at(const JudgeArgs& a, const Unit& u, int64_t dim) {
  const RopeKernelArgs& l = a.launch;
  if (dim >= l.head_dim) return 0;
  const int64_t before = u.operand == 0   ? 0
                         : u.operand == 1 ? l.q.num_heads
                                          : int64_t{l.q.num_heads} + l.k.num_heads;
  return number_at(l.bias, l.dtype, (before + u.head) * l.head_dim + dim);
}

// What the norm multiplies a dim by.
ROPE_JUDGE_FN double factor_at(const JudgeArgs& a, const Unit& u, int64_t dim) {
  const RopeKernelArgs& l = a.launch;
  const void* weights = u.operand == 0 ? l.q_weight : l.k_weight;
  if (weights == nullptr) return 1;
  const int64_t i = l.norm == ROPE_NORM_ROW ? u.head * l.head_dim + dim : dim;
  return number_at(weights, l.dtype, i) + l.weight_offset;
}

ROPE_JUDGE_FN Both with_bias(const JudgeArgs& a, const Unit& u, const Both& in, bool round) {
  if (a.launch.bias == nullptr) return in;
  Both out{biased(in.x, bias_at(a, u, u.first)), in.y};
  if (u.pair) out.y = biased(in.y, bias_at(a, u, u.second));
  if (!round) return out;
  const Format f = format_of(a.launch.dtype);
  return {handed_on(out.x, f), handed_on(out.y, f)};
}

ROPE_JUDGE_FN Both turned(const Unit& u, const Both& in) {
  if (!u.pair) return in;
  return {rotated(in.x, u.c, in.y, -u.s, u.angle), rotated(in.y, u.c, in.x, u.s, u.angle)};
}
// By how much a rotation lengthens the errors of a pair.
ROPE_JUDGE_FN double turn_growth(const JudgeArgs&, const Unit& u) {
  return u.pair ? sqrt(u.c * u.c + u.s * u.s) : 1;
}

// A result that the next launch reads again: beyond the dtype's range it is an infinity by then.
ROPE_JUDGE_FN void note_stored(Both* both, const Format& f) {
  both->x.beyond = both->x.beyond || most(both->x) > largest_of(f);
  both->y.beyond = both->y.beyond || most(both->y) > largest_of(f);
}

ROPE_JUDGE_FN bool unfused(const JudgeArgs& a) { return a.precision == ROPE_PRECISION_UNFUSED; }

// Ops without a norm.
ROPE_JUDGE_FN Both without_norm(const JudgeArgs& a, const Unit& u, const Both& in) {
  const Both out = turned(u, with_bias(a, u, in, unfused(a) && u.pair));
  const Format f = format_of(a.launch.dtype);
  return {rounded(out.x, f), rounded(out.y, f)};
}

// What the mean is taken of.
ROPE_JUDGE_FN Both before_norm(const JudgeArgs& a, const Unit& u, const Both& in) {
  Both out = with_bias(a, u, in, unfused(a));
  if (a.launch.norm_after == 0) return out;
  out = turned(u, out);
  // Unfused launches hand over all dims: those that only a bias changed are rounded as well.
  const bool changed = u.pair || (a.launch.bias != nullptr && !unfused(a));
  if (!changed || (!unfused(a) && a.launch.round_between == 0)) return out;
  const Format f = format_of(a.launch.dtype);
  return {handed_on(out.x, f), handed_on(out.y, f)};
}

// From there to the result.
ROPE_JUDGE_FN Both after_norm(const JudgeArgs& a, const Unit& u, const Both& in,
                              const SpanScale& scale) {
  const Format f = format_of(a.launch.dtype);
  Both out{normed(in.x, scale.scale, factor_at(a, u, u.first), scale.relative), in.y};
  if (u.pair) out.y = normed(in.y, scale.scale, factor_at(a, u, u.second), scale.relative);
  if (a.launch.norm_after == 0 && u.pair) {
    if (unfused(a) || a.launch.round_between != 0) out = {handed_on(out.x, f), handed_on(out.y, f)};
    out = turned(u, out);
  }
  return {rounded(out.x, f), rounded(out.y, f)};
}

// Neither rotation nor norm nor bias reaches it.
ROPE_JUDGE_FN bool keeps_bits(const RopeKernelArgs& l, const Unit& u) {
  return !u.pair && l.bias == nullptr && (l.norm == ROPE_NORM_NONE || u.operand == 2);
}

}  // namespace judge
}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_JUDGE_STEPS_H_
