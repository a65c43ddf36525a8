// A second, independent opinion on a launch: each element computed anew in double from the pristine
// input and compared on the device that ran the launch. It judges the timed launches, and is itself
// checked against the Eigen reference. Compiled for the host and, by nvcc, for the GPU.
//
// Two passes: judge_scale() for every span of a norm, then judge_unit() for everything.
#ifndef ROPE_BENCH_SRC_MEASURE_JUDGE_H_
#define ROPE_BENCH_SRC_MEASURE_JUDGE_H_

#include <cstdint>

#include "src/measure/judge_steps.h"

namespace rope_bench {

// A span is what one mean is taken over: a head row of q or k, or all those of a token.
ROPE_JUDGE_FN int64_t judge_scale_units(const JudgeArgs& a) {
  return a.launch.norm == ROPE_NORM_NONE ? 0 : judge::num_spans(a.launch);
}

// Bytes that JudgeArgs::scratch needs, 0 without a norm: a scale per span; where a launch in place
// is repeated, also 16 bytes for every element of q and k.
ROPE_JUDGE_FN int64_t judge_scratch_bytes(const JudgeArgs& a) {
  const int64_t spans = judge_scale_units(a) * static_cast<int64_t>(sizeof(judge::SpanScale));
  return spans + (a.repeats > 1 ? 16 * judge::num_elements(a.launch) : 0) *
                     (a.launch.norm == ROPE_NORM_NONE ? 0 : 1);
}

// One unit is a pair, or an element that does not rotate.
ROPE_JUDGE_FN int64_t judge_units(const JudgeArgs& a) {
  const RopeKernelArgs& l = a.launch;
  return l.num_tokens *
         (l.q.num_heads * judge::units_per_head(l, l.q) +
          l.k.num_heads * judge::units_per_head(l, l.k) + int64_t{l.v.num_heads} * l.head_dim);
}

namespace judge {

// Sums over a span, first to last.
struct SpanSums {
  double squares, shift;
  bool beyond;
};
ROPE_JUDGE_FN void add_to(SpanSums* sums, const Expected& e) {
  sums->squares += e.value * e.value;
  sums->shift += (2 * fabs(e.value) + e.bound) * e.bound;
  sums->beyond = sums->beyond || e.beyond || beyond_float32(fabs(e.value));
}

ROPE_JUDGE_FN SpanScale scale_of(const RopeKernelArgs& l, const SpanSums& sums, int64_t n) {
  const double mean_eps = sums.squares / static_cast<double>(n) + l.norm_eps;
  const double scale = 1 / sqrt(mean_eps);
  return {scale,
          error_model::norm_relative(n) + error_model::scale_relative(scale) +
              error_model::norm_of_shifted_mean(sums.shift / static_cast<double>(n), mean_eps),
          sums.beyond ? 1.0 : 0.0};
}

// The scale of a launch that ran once.
ROPE_JUDGE_FN SpanScale scale_once(const JudgeArgs& a, const SpanPlace& span) {
  SpanSums sums{0, 0, false};
  for (int64_t h = span.first_head; h < span.first_head + span.heads; ++h) {
    Unit unit = unit_of_head(a, span.operand, span.token, h);
    for (int64_t u = 0; u < units_per_head(a.launch, *unit.tensor); ++u) {
      select(a, u, &unit);
      const Both before = before_norm(a, unit, loaded(a, unit));
      add_to(&sums, before.x);
      if (unit.pair) add_to(&sums, before.y);
    }
  }
  return scale_of(a.launch, sums, span.heads * a.launch.head_dim);
}

// The row of a head in `scratch` behind the scales: head_dim values, then a bound per unit.
ROPE_JUDGE_FN double* scratch_row(const JudgeArgs& a, const Unit& unit) {
  double* rows =
      reinterpret_cast<double*>(static_cast<SpanScale*>(a.scratch) + num_spans(a.launch));
  const int64_t heads = a.launch.q.num_heads + a.launch.k.num_heads;
  const int64_t row =
      unit.token * heads + (unit.operand == 0 ? 0 : a.launch.q.num_heads) + unit.head;
  return rows + 2 * row * a.launch.head_dim;
}

// A launch applied `repeats` times to the same data. Bounds of single elements would double with
// every norm, because all elements may conspire in the mean; lengths do not: the norm of the errors
// of a span (`length`), and of a pair (kept per unit), grow by what each launch adds
// (docs/validation.md).
class Repeated {
 public:
  ROPE_JUDGE_FN Repeated(const JudgeArgs& a, const SpanPlace& span) : a_(a), span_(span) {}

  ROPE_JUDGE_FN SpanScale run() {
    const double n = static_cast<double>(span_.heads * a_.launch.head_dim);
    bool beyond = false;
    for (int32_t i = 0; i < a_.repeats; ++i) {
      sums_ = {0, 0, beyond};
      pass<true>(i == 0);
      beyond = sums_.beyond;
      const double size = sqrt(sums_.squares), shift = (2 * size + length_) * length_ / n;
      const double mean_eps = sums_.squares / n + a_.launch.norm_eps;
      scale_ = 1 / sqrt(mean_eps);
      relative_ =
          error_model::norm_relative(static_cast<int64_t>(n)) + error_model::scale_relative(scale_);
      moved_ = error_model::norm_of_shifted_mean(shift, mean_eps);
      // x / sqrt(mean(x^2) + eps) moves by no more than its argument over its own root.
      const double least = size > length_ ? size - length_ : 0;
      length_ /= sqrt(least * least / n + a_.launch.norm_eps);
      pass<false>(false);
    }
    return {scale_, 0, beyond ? 1.0 : 0.0};
  }

 private:
  // Before the norm, or the norm and what follows it. `load`: from the pristine input.
  template <bool kBeforeNorm>
  ROPE_JUDGE_FN void pass(bool load) {
    grown_ = 0;
    added_ = 0;
    for (int64_t h = span_.first_head; h < span_.first_head + span_.heads; ++h) {
      Unit unit = unit_of_head(a_, span_.operand, span_.token, h);
      double* row = scratch_row(a_, unit);
      for (int64_t u = 0; u < units_per_head(a_.launch, *unit.tensor); ++u) {
        select(a_, u, &unit);
        if (load) {
          const Both in = loaded(a_, unit);
          row[unit.first] = in.x.value;
          if (unit.pair) row[unit.second] = in.y.value;
          row[a_.launch.head_dim + u] = 0;
        }
        if (kBeforeNorm) {
          first_stage(unit, row);
        } else {
          second_stage(unit, row);
        }
      }
    }
    length_ = length_ * grown_ + sqrt(added_);
  }

  ROPE_JUDGE_FN static Both at(const Unit& unit, const double* row, double reach) {
    return {{row[unit.first], 0, reach, false},
            {unit.pair ? row[unit.second] : 0, 0, unit.pair ? reach : 0, false}};
  }

  // Values back to their row; the unit's bound is `carried` and what this stage added.
  ROPE_JUDGE_FN void put(const Unit& unit, const Both& to, double by, double carried, double* row) {
    row[unit.first] = to.x.value;
    if (unit.pair) row[unit.second] = to.y.value;
    const double y = unit.pair ? to.y.bound : 0;
    const double added = to.x.bound * to.x.bound + y * y;
    added_ += added;
    grown_ = by > grown_ ? by : grown_;
    row[a_.launch.head_dim + unit.index] = carried * by + sqrt(added);
  }

  ROPE_JUDGE_FN void first_stage(const Unit& unit, double* row) {
    const double before = row[a_.launch.head_dim + unit.index];
    const Both to = before_norm(a_, unit, at(unit, row, before));
    put(unit, to, a_.launch.norm_after ? turn_growth(a_, unit) : 1, before, row);
    const double values[2] = {to.x.value, unit.pair ? to.y.value : 0};
    for (const double value : values) {
      sums_.squares += value * value;
      sums_.beyond = sums_.beyond || beyond_float32(fabs(value));
    }
    sums_.beyond = sums_.beyond || to.x.beyond || (unit.pair && to.y.beyond);
  }

  ROPE_JUDGE_FN void second_stage(const Unit& unit, double* row) {
    const double x = row[unit.first], y = unit.pair ? row[unit.second] : 0;
    const double before = row[a_.launch.head_dim + unit.index];
    const double carried = before + (sqrt(x * x + y * y) + before) * moved_;
    const double wx = fabs(factor_at(a_, unit, unit.first));
    const double wy = unit.pair ? fabs(factor_at(a_, unit, unit.second)) : 0;
    const double weight = wx > wy ? wx : wy;
    const double turn = a_.launch.norm_after ? 1 : turn_growth(a_, unit);
    const Both to = after_norm(a_, unit, at(unit, row, carried), {scale_, relative_, 0});
    put(unit, to, turn * weight, carried * scale_, row);
  }

  const JudgeArgs& a_;
  SpanPlace span_;
  SpanSums sums_{0, 0, false};
  double length_ = 0, grown_ = 0, added_ = 0, scale_ = 0, relative_ = 0, moved_ = 0;
};

}  // namespace judge

// Fills the scratch for one span; index in [0, judge_scale_units).
ROPE_JUDGE_FN void judge_scale(const JudgeArgs& a, int64_t index) {
  const judge::SpanPlace span = judge::span_at(a.launch, index);
  if (a.positions[span.token] < 0) return;  // padding
  static_cast<judge::SpanScale*>(a.scratch)[index] =
      a.repeats > 1 ? judge::Repeated(a, span).run() : judge::scale_once(a, span);
}

// True if the element or pair is right; index in [0, judge_units).
ROPE_JUDGE_FN bool judge_unit(const JudgeArgs& a, int64_t index) {
  const judge::Unit unit = judge::unit_at(a, index);
  if (a.positions[unit.token] < 0) return true;  // padding: another check's business
  const RopeKernelArgs& l = a.launch;
  if (judge::keeps_bits(l, unit)) {
    return judge::bits_at(unit.tensor->in, l.dtype, unit.in + unit.first) ==
           judge::bits_at(unit.tensor->out, l.dtype, unit.out + unit.first);
  }
  const bool has_norm = l.norm != ROPE_NORM_NONE && unit.operand != 2;
  const judge::Format format = judge::format_of(l.dtype);
  judge::Both both = judge::loaded(a, unit);
  if (has_norm) {
    const judge::SpanScale scale =
        static_cast<const judge::SpanScale*>(a.scratch)[judge::span_of(l, unit)];
    if (a.repeats > 1) {
      const double* row = judge::scratch_row(a, unit);
      const double bound = row[l.head_dim + unit.index];
      both.x = {row[unit.first], bound, 0, false};
      if (unit.pair) both.y = {row[unit.second], bound, 0, false};
    } else {
      both = judge::after_norm(a, unit, judge::before_norm(a, unit, both), scale);
    }
    both.x.beyond = both.x.beyond || scale.beyond != 0;
    both.y.beyond = both.y.beyond || scale.beyond != 0;
  } else {
    // The values stay exact from repeat to repeat; what the launches round is in the bounds.
    for (int32_t i = 0; i < a.repeats; ++i) {
      if (i > 0) judge::note_stored(&both, format);
      both = judge::without_norm(a, unit, both);
    }
  }
  const double x = judge::number_at(unit.tensor->out, l.dtype, unit.out + unit.first);
  if (!judge::agrees(both.x, x, format, has_norm)) return false;
  if (!unit.pair) return true;
  const double y = judge::number_at(unit.tensor->out, l.dtype, unit.out + unit.second);
  return judge::agrees(both.y, y, format, has_norm);
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_JUDGE_H_
