// What a span of a result should be, and how far off each element may be before the result is
// rounded to its dtype. A span is a head row, or where a norm reaches over all heads of q or k, all
// those of a token.
#ifndef ROPE_BENCH_SRC_MATH_SPAN_H_
#define ROPE_BENCH_SRC_MATH_SPAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/kernel_api.h"
#include "src/math/convert.h"
#include "src/math/error_model.h"
#include "src/math/numeric.h"
#include "src/math/reference.h"

namespace rope_bench::judging {

// cos and sin of one token: those that the kernel is judged by, and the exact ones.
struct TokenAngles {
  std::vector<double> judged, exact;  // [rotary_dim]: cosines, then sines; backward negated
  // [rotary_dim / 2] what a variant without a table may be off, per |x| + |y|.
  std::vector<double> allowance;
};

struct OpRules {
  Pairing pairing;
  int64_t rotary_dim;
  bool norm_after;
  double eps;
  bool round_steps;    // to the dtype after every step
  bool round_between;  // between norm and rotation
};

// q, k or v. The op changes dims [begin, begin + count) of a head; the others keep their bits.
struct Operand {
  const char* name;
  RopeTensor tensor;
  int64_t heads, width;
  int64_t begin, count;
  bool rotates;
  int64_t rotary_offset;        // from `begin`
  int64_t heads_per_span;       // 1, or all heads
  std::vector<double> bias;     // [heads * count], or empty
  std::vector<double> factors;  // [heads * count] of the norm, or empty: no norm

  bool normed() const { return !factors.empty(); }
};

template <Dtype kDtype>
class Span {
 public:
  using Storage = typename Element<kDtype>::Storage;

  // [size] each.
  std::vector<double> want, exact, error;
  std::vector<double> unit;  // what an error is measured by: the larger product, or the result
  // Something left float32's range before or inside the norm, or was infinite: a kernel may then
  // have NaN, an infinity or (infinite mean square) 0 where the reference has a number.
  bool beyond = false;
  int64_t size = 0;

  // `most`: elements of the largest span.
  Span(const OpRules& rules, int64_t most) : rules_(rules) {
    for (std::vector<double>* v : {&want, &exact, &error, &unit, &before_, &before_error_})
      v->resize(static_cast<size_t>(most));
  }
  const OpRules& rules() const { return rules_; }

  // `in`: where the heads [first, first + heads_per_span) of the token begin.
  void expect(const Operand& op, int64_t first, const Storage* in, const TokenAngles& angles) {
    size = op.heads_per_span * op.count;
    beyond = false;
    for (int64_t h = 0; h < op.heads_per_span; ++h) {
      const Storage* row = in + h * op.tensor.in_head_stride + op.begin;
      double* x = &before_[static_cast<size_t>(h * op.count)];
      for (int64_t j = 0; j < op.count; ++j) x[j] = Element<kDtype>::to_float(row[j]);
    }
    std::fill_n(before_error_.begin(), size, 0.0);
    if (!op.bias.empty()) add_bias(op, first);
    if (op.normed()) note_beyond(before_);
    if (op.normed() && !rules_.norm_after) {
      normalise(op, first, &before_, &before_error_);
      if (rules_.round_steps || rules_.round_between) round_rotated(op, before_, &before_error_);
    }
    if (op.rotates) {
      rotate(op, angles);
    } else {
      std::copy_n(before_.begin(), size, want.begin());
      std::copy_n(before_.begin(), size, exact.begin());
      std::copy_n(before_error_.begin(), size, error.begin());
      take_results_as_units(0, size);
    }
    if (op.normed() && rules_.norm_after) norm_after(op, first);
  }

 private:
  void note_beyond(const std::vector<double>& values) {
    const double most = max_finite(Dtype::kF32);
    for (int64_t i = 0; i < size; ++i) beyond = beyond || std::abs(values[i]) > most;
  }

  // A value written and read back as kDtype between two steps: beyond its range the next one meets
  // an infinity.
  double rounding(double value, double off) {
    const double most = std::abs(value) + off;
    beyond = beyond || most > max_finite(kDtype);
    return kDtype == Dtype::kF32 ? 0 : 0.5 * ulp_of<kDtype>(most);
  }

  void add_bias(const Operand& op, int64_t first) {
    add_bias_reference(size, &op.bias[static_cast<size_t>(first * op.count)], before_.data());
    for (int64_t i = 0; i < size; ++i) before_error_[i] = 0.5 * ulp_of<Dtype::kF32>(before_[i]);
    note_beyond(before_);
    if (!rules_.round_steps) return;
    if (!op.normed()) return round_rotated(op, before_, &before_error_);
    for (int64_t i = 0; i < size; ++i) before_error_[i] += rounding(before_[i], before_error_[i]);
  }

  void round_rotated(const Operand& op, const std::vector<double>& values,
                     std::vector<double>* errors) {
    if (!op.rotates) return;
    for (int64_t h = 0; h < op.heads_per_span; ++h) {
      const int64_t begin = h * op.count + op.rotary_offset;
      for (int64_t i = begin; i < begin + rules_.rotary_dim; ++i)
        (*errors)[i] += rounding(values[i], (*errors)[i]);
    }
  }

  // Values with their errors through the norm (docs/validation.md).
  void normalise(const Operand& op, int64_t first, std::vector<double>* values,
                 std::vector<double>* errors) {
    const double* factors = &op.factors[static_cast<size_t>(first * op.count)];
    const double mean_eps = mean_square_reference(size, rules_.eps, values->data());
    const double scale = 1 / std::sqrt(mean_eps);
    double shift = 0;
    for (int64_t i = 0; i < size; ++i)
      shift += (2 * std::abs((*values)[i]) + (*errors)[i]) * (*errors)[i];
    shift /= static_cast<double>(size);
    const double relative = error_model::norm_relative(size) + error_model::scale_relative(scale) +
                            error_model::norm_of_shifted_mean(shift, mean_eps);
    for (int64_t i = 0; i < size; ++i) {
      const double most = std::abs((*values)[i]) + (*errors)[i];
      (*errors)[i] =
          ((*errors)[i] + most * relative) * scale * std::abs(factors[i]) + 4 * error_model::kTiny;
    }
    normalise_reference(size, mean_eps, factors, values->data());
    scale_ = scale;
  }

  void norm_after(const Operand& op, int64_t first) {
    note_beyond(unit);
    note_beyond(want);
    // Unfused launches hand over all dims: those that only a bias changed are rounded as well.
    if (rules_.round_between && !rules_.round_steps && !op.bias.empty()) {
      for (int64_t i = 0; i < size; ++i) error[i] += rounding(want[i], error[i]);
    } else if (rules_.round_steps || rules_.round_between) {
      round_rotated(op, want, &error);
    }
    const double* factors = &op.factors[static_cast<size_t>(first * op.count)];
    normalise(op, first, &want, &error);
    for (int64_t i = 0; i < size; ++i) unit[i] *= scale_ * std::abs(factors[i]);
    normalise_reference(size, mean_square_reference(size, rules_.eps, exact.data()), factors,
                        exact.data());
  }

  void rotate(const Operand& op, const TokenAngles& angles) {
    const int64_t half = rules_.rotary_dim / 2;
    for (int64_t h = 0; h < op.heads_per_span; ++h) {
      const auto head = static_cast<size_t>(h * op.count);
      for (const auto& [factors, to] : {std::pair{&angles.judged, &want}, {&angles.exact, &exact}})
        rotate_reference(rules_.pairing, op.count, rules_.rotary_dim, op.rotary_offset,
                         factors->data(), factors->data() + half, &before_[head], &(*to)[head]);
      const int64_t begin = h * op.count + op.rotary_offset;
      if (op.count != rules_.rotary_dim) {
        std::copy_n(&before_error_[head], op.count, &error[head]);
        take_results_as_units(h * op.count, begin);
        take_results_as_units(begin + rules_.rotary_dim, (h + 1) * op.count);
      }
      bound_pairs(begin, angles);
      for (int64_t i = begin; i < begin + rules_.rotary_dim; ++i)
        error[i] += error_model::kRotationUlps * ulp_of<Dtype::kF32>(unit[i]);
    }
  }

  // The larger products, and what the errors of x, y and of the angle become.
  void bound_pairs(int64_t begin, const TokenAngles& angles) {
    const auto r = static_cast<int32_t>(rules_.rotary_dim);
    for (int32_t i = 0; i < r / 2; ++i) {
      const int64_t first = begin + pair_first(rules_.pairing, i);
      const int64_t second = begin + pair_second(rules_.pairing, i, r);
      const double c = std::abs(angles.judged[i]), s = std::abs(angles.judged[r / 2 + i]);
      const double ex = before_error_[first], ey = before_error_[second];
      const double x = std::abs(before_[first]) + ex, y = std::abs(before_[second]) + ey;
      unit[first] = std::max(x * c, y * s);
      unit[second] = std::max(y * c, x * s);
      const double angle = angles.allowance[i] * (x + y);
      error[first] = ex * c + ey * s + angle;
      error[second] = ey * c + ex * s + angle;
    }
  }

  void take_results_as_units(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) unit[i] = std::abs(want[i]);
  }

  OpRules rules_;
  double scale_ = 1;  // of the last norm
  std::vector<double> before_, before_error_;
};

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_SPAN_H_
