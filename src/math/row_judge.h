// Compares spans of an output with what they should be. Spans on which nothing is unusual go
// through loops without branches; one with an element that is not plainly within its bound is
// judged again, element by element.
#ifndef ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_
#define ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "src/case/result.h"
#include "src/math/span.h"

namespace rope_bench::judging {

// Sums and maxima over some spans. Combined in the order of tokens, so that the result does not
// depend on the number of threads.
struct Tally {
  double max_ulp = 0, max_abs = 0, total_max_abs = 0;
  double sum_error2 = 0, sum_want2 = 0;
  int64_t count = 0, num_over = 0, correctly_rounded = 0;
  UlpHistogram histogram;
  std::vector<WorstElement> worst;  // as Accuracy::worst_elements

  double max_ratio() const { return worst.empty() ? 0 : worst.front().bound_ratio; }
  // What an element's ratio must exceed to be among the worst.
  double least_ratio() const {
    return worst.size() < kMostWorstElements ? 0 : worst.back().bound_ratio;
  }
  // Of equal ones the first stay.
  void add_worst(const WorstElement& element) {
    if (!(element.bound_ratio > least_ratio())) return;
    const auto place = std::find_if(worst.begin(), worst.end(), [&](const WorstElement& known) {
      return known.bound_ratio < element.bound_ratio;
    });
    worst.insert(place, element);
    if (worst.size() > kMostWorstElements) worst.pop_back();
  }

  void add(const Tally& other) {
    max_ulp = std::max(max_ulp, other.max_ulp);
    max_abs = std::max(max_abs, other.max_abs);
    total_max_abs = std::max(total_max_abs, other.total_max_abs);
    sum_error2 += other.sum_error2;
    sum_want2 += other.sum_want2;
    count += other.count;
    num_over += other.num_over;
    correctly_rounded += other.correctly_rounded;
    histogram.add(other.histogram);
    for (const WorstElement& element : other.worst) add_worst(element);
  }
};

template <Dtype kDtype>
class RowJudge {
 public:
  using Storage = typename Element<kDtype>::Storage;

  RowJudge(const OpRules& rules, int64_t most) : span_(rules, most) {
    for (std::vector<double>* v : {&got_, &error_, &bound_, &ratio_, &ulps_})
      v->resize(static_cast<size_t>(most));
  }

  // `in` and `out`: where heads [first, first + heads_per_span) of the token begin.
  struct Place {
    const Operand* operand;
    int64_t token, first;
    const void *in, *out;
  };

  void judge(const Place& place, const TokenAngles& angles, Tally* tally) {
    angles_ = &angles;
    const Operand& op = *place.operand;
    const auto* in = static_cast<const Storage*>(place.in);
    const auto* out = static_cast<const Storage*>(place.out);
    for (int64_t h = 0; h < op.heads_per_span; ++h) {
      const Storage* from = in + h * op.tensor.in_head_stride;
      const Storage* to = out + h * op.tensor.out_head_stride;
      compare_bits(place, h, from, to, 0, op.begin, tally);
      compare_bits(place, h, from, to, op.begin + op.count, op.width, tally);
      for (int64_t j = 0; j < op.count; ++j)
        got_[h * op.count + j] = Element<kDtype>::to_float(to[op.begin + j]);
    }
    if (op.count == 0) return;
    span_.expect(op, place.first, in, angles);
    if (errors_and_bounds()) {
      tally_plain(place, tally);
    } else {
      for (int64_t i = 0; i < span_.size; ++i) tally_element(place, i, tally);
    }
  }

 private:
  using Array = Eigen::Map<const Eigen::ArrayXd>;
  Array array(const std::vector<double>& v) const { return Array(v.data(), span_.size); }

  // Dims [begin, end) of a head must keep their bits.
  void compare_bits(const Place& place, int64_t head, const Storage* in, const Storage* out,
                    int64_t begin, int64_t end, Tally* tally) const {
    const size_t bytes = static_cast<size_t>(end - begin) * sizeof(Storage);
    if (bytes == 0 || std::memcmp(in + begin, out + begin, bytes) == 0) return;
    for (int64_t dim = begin; dim < end; ++dim) {
      if (in[dim] == out[dim]) continue;
      ++tally->num_over;
      const double want = Element<kDtype>::to_float(in[dim]);
      tally->add_worst({place.operand->name, place.token, place.first + head, dim,
                        Element<kDtype>::to_float(out[dim]), want, kInfinity, kInfinity, want,
                        std::nullopt, std::nullopt, std::nullopt});
    }
  }

  static double bound_of(double error, double result) {
    // In float32 the rounding of the last step is the rounding of the result.
    return kDtype == Dtype::kF32 ? error : 0.5 * ulp_of<kDtype>(result) + error;
  }

  // In loops that vectorise. True if every element is a number within its bound.
  bool errors_and_bounds() {
    int64_t num_odd = 0;
    for (int64_t i = 0; i < span_.size; ++i) {
      const double result = std::max(std::abs(span_.want[i]), std::abs(got_[i]));
      const double bound = bound_of(span_.error[i], result);
      const double error = std::abs(got_[i] - span_.want[i]);
      bound_[i] = bound;
      error_[i] = error;
      ratio_[i] = error / bound;
      ulps_[i] = error / ulp_of<kDtype>(span_.unit[i]);
      num_odd += ratio_[i] <= 1 ? 0 : 1;  // also NaN
    }
    return num_odd == 0;
  }

  void tally_plain(const Place& place, Tally* tally) const {
    tally->count += span_.size;
    tally->max_ulp = std::max(tally->max_ulp, array(ulps_).maxCoeff());
    tally->max_abs = std::max(tally->max_abs, array(error_).maxCoeff());
    tally->total_max_abs =
        std::max(tally->total_max_abs, (array(got_) - array(span_.exact)).abs().maxCoeff());
    tally->sum_error2 += array(error_).square().sum();
    tally->sum_want2 += array(span_.want).square().sum();
    int64_t rounded = 0;
    for (int64_t i = 0; i < span_.size; ++i) rounded += correctly_rounded(i) ? 1 : 0;
    tally->correctly_rounded += rounded;
    for (int64_t i = 0; i < span_.size; ++i)
      ++tally->histogram.counts[UlpHistogram::bin_of(ulps_[i])];
    if (!(array(ratio_).maxCoeff() > tally->least_ratio())) return;
    for (int64_t i = 0; i < span_.size; ++i) {
      if (ratio_[i] > tally->least_ratio())
        tally->add_worst(element(place, i, ulps_[i], ratio_[i]));
    }
  }

  // Within half an ULP of the result: below a power of two that of the smaller numbers.
  bool correctly_rounded(int64_t i) const {
    const double least = std::min(std::abs(span_.want[i]), std::abs(got_[i]));
    return error_[i] <= 0.5 * ulp_of<kDtype>(least);
  }

  // Right although not plainly within the bound: NaN for NaN, infinities of equal sign, and what
  // the end of the number range allows.
  bool right_specially(const Operand& op, int64_t i) const {
    const double got = got_[i], want = span_.want[i];
    if (std::isnan(want)) return std::isnan(got);
    // Beyond float32, infinities and two of them as NaN; behind a norm also x / infinity.
    const bool beyond = span_.beyond || span_.unit[i] > max_finite(Dtype::kF32);
    if (beyond && !std::isfinite(got) && std::isfinite(want)) return true;
    if (span_.beyond && op.normed() && (got == 0 || std::isnan(got))) return true;
    if (std::isinf(want)) return got == want;
    const double largest = max_finite(kDtype);
    const double one_ulp = ulp_of<kDtype>(largest);
    const bool same_sign = std::signbit(got) == std::signbit(want);
    if (std::isinf(got)) {
      const double bound = bound_of(span_.error[i], want);
      return same_sign && std::abs(want) >= largest - std::max(one_ulp, bound);
    }
    return same_sign && std::abs(got) == largest && std::abs(std::abs(want) - largest) <= one_ulp;
  }

  void tally_element(const Place& place, int64_t i, Tally* tally) const {
    const double got = got_[i], want = span_.want[i];
    const bool within = ratio_[i] <= 1;
    if (!within && right_specially(*place.operand, i)) return;
    const bool finite = std::isfinite(error_[i]) && std::isfinite(want);
    const double error = finite ? error_[i] : kInfinity;
    const double ulps = finite ? ulps_[i] : kInfinity;
    tally->count += 1;
    tally->correctly_rounded += finite && correctly_rounded(i) ? 1 : 0;
    ++tally->histogram.counts[UlpHistogram::bin_of(ulps)];
    tally->max_ulp = std::max(tally->max_ulp, ulps);
    tally->max_abs = std::max(tally->max_abs, error);
    tally->sum_error2 += error * error;
    if (std::isfinite(want)) tally->sum_want2 += want * want;
    const double total = std::abs(got - span_.exact[i]);
    tally->total_max_abs = std::max(tally->total_max_abs, finite ? total : kInfinity);
    if (!within) ++tally->num_over;
    const double ratio = finite ? ratio_[i] : kInfinity;
    if (ratio > tally->least_ratio()) tally->add_worst(element(place, i, ulps, ratio));
  }

  WorstElement element(const Place& place, int64_t i, double ulps, double ratio) const {
    const Operand& op = *place.operand;
    const int64_t head = i / op.count, dim = op.begin + i % op.count;
    const Storage* row = static_cast<const Storage*>(place.in) + head * op.tensor.in_head_stride;
    WorstElement e;
    e.tensor = op.name;
    e.token = place.token;
    e.head = place.first + head;
    e.dim = dim;
    e.got = got_[i];
    e.want = span_.want[i];
    e.ulp = ulps;
    e.bound_ratio = ratio;
    e.x = Element<kDtype>::to_float(row[dim]);
    const OpRules& rules = span_.rules();
    const int64_t begin = op.begin + op.rotary_offset;
    if (!op.rotates || dim < begin || dim >= begin + rules.rotary_dim) return e;
    const auto r = static_cast<int32_t>(rules.rotary_dim);
    for (int32_t pair = 0; pair < r / 2; ++pair) {
      const int64_t first = begin + pair_first(rules.pairing, pair);
      const int64_t second = begin + pair_second(rules.pairing, pair, r);
      if (dim != first && dim != second) continue;
      e.x = Element<kDtype>::to_float(row[first]);
      e.y = Element<kDtype>::to_float(row[second]);
      e.cosine = angles_->judged[pair];
      e.sine = angles_->judged[r / 2 + pair];
    }
    return e;
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Span<kDtype> span_;
  const TokenAngles* angles_ = nullptr;  // of the span that is judged
  std::vector<double> got_, error_, bound_, ratio_, ulps_;
};

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_
