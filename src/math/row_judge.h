// Judges one head row at a time. Rows on which nothing is unusual go through loops without
// branches; a row with an element that is not plainly within its bound is judged again, element by
// element.
#ifndef ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_
#define ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "src/math/convert.h"
#include "src/math/numeric.h"
#include "src/math/reference.h"
#include "src/math/tolerance.h"

namespace rope_bench::judging {

// Sums and maxima over some rows. Combined in the order of tokens, so that the result does not
// depend on the number of threads.
struct Tally {
  double max_ulp = 0, max_ratio = 0, max_abs = 0, total_max_abs = 0;
  double sum_error2 = 0, sum_want2 = 0;
  int64_t count = 0, num_over = 0;
  std::optional<WorstElement> worst;

  void add(const Tally& other) {
    max_ulp = std::max(max_ulp, other.max_ulp);
    max_abs = std::max(max_abs, other.max_abs);
    total_max_abs = std::max(total_max_abs, other.total_max_abs);
    sum_error2 += other.sum_error2;
    sum_want2 += other.sum_want2;
    count += other.count;
    num_over += other.num_over;
    if (other.worst && (!worst || other.max_ratio > max_ratio)) worst = other.worst;
    max_ratio = std::max(max_ratio, other.max_ratio);
  }
};

struct Operand {
  const char* name;
  HostTensor in, out;
  int64_t heads;
  int64_t offset;  // of the first rotated dim
};

struct Place {
  const Operand* operand;
  int64_t token, head;
};

// cos and sin of one token: those that the kernel is judged by, and the exact ones.
struct TokenAngles {
  std::vector<double> judged, exact;  // [rotary_dim]: cosines, then sines
};

template <Dtype kDtype>
class RowJudge {
 public:
  using Storage = typename Element<kDtype>::Storage;

  RowJudge(const RopeCase& c, bool uses_table, double attention_factor)
      : pairing_(c.rope.pairing),
        head_dim_(c.head_dim),
        rotary_dim_(c.rope.rotary_dim),
        // Without a table the kernel's own cos and sin may be 2^-23 af off (docs/validation.md).
        angle_allowance_(uses_table ? 0 : 0x1p-23 * std::abs(attention_factor)) {
    for (std::vector<double>* v :
         {&x_, &got_, &want_, &exact_, &product_, &bound_, &error_, &ratio_, &ulps_}) {
      v->resize(static_cast<size_t>(rotary_dim_));
    }
  }

  void judge(const Place& place, const TokenAngles& angles, Tally* tally) {
    const Operand& operand = *place.operand;
    const Storage* in = row(operand.in, place);
    const Storage* out = row(operand.out, place);
    compare_bits(place, in, out, 0, operand.offset, tally);
    compare_bits(place, in, out, operand.offset + rotary_dim_, head_dim_, tally);

    const int64_t n = rotary_dim_;
    for (int64_t i = 0; i < n; ++i) x_[i] = Element<kDtype>::to_float(in[operand.offset + i]);
    for (int64_t i = 0; i < n; ++i) got_[i] = Element<kDtype>::to_float(out[operand.offset + i]);
    const double* c = angles.judged.data();
    const double* s = c + n / 2;
    rotate_reference(pairing_, n, n, 0, c, s, x_.data(), want_.data());
    rotate_reference(pairing_, n, n, 0, angles.exact.data(), angles.exact.data() + n / 2, x_.data(),
                     exact_.data());
    larger_products(c, s);
    const bool plain = errors_and_bounds();
    if (plain) {
      tally_plain(place, tally);
    } else {
      for (int64_t i = 0; i < n; ++i) tally_element(place, i, tally);
    }
  }

 private:
  using Array = Eigen::Map<const Eigen::ArrayXd>;
  Array array(const std::vector<double>& v) const { return Array(v.data(), rotary_dim_); }

  static const Storage* row(const HostTensor& tensor, const Place& place) {
    return static_cast<const Storage*>(tensor.data) + place.token * tensor.token_stride +
           place.head * tensor.head_stride;
  }

  // Pass-through dims [begin, end) of a head must keep their bits.
  void compare_bits(const Place& place, const Storage* in, const Storage* out, int64_t begin,
                    int64_t end, Tally* tally) const {
    const size_t bytes = static_cast<size_t>(end - begin) * sizeof(Storage);
    if (bytes == 0 || std::memcmp(in + begin, out + begin, bytes) == 0) return;
    for (int64_t dim = begin; dim < end; ++dim) {
      if (in[dim] == out[dim]) continue;
      ++tally->num_over;
      set_worst(place, dim, std::numeric_limits<double>::infinity(),
                Element<kDtype>::to_float(out[dim]), Element<kDtype>::to_float(in[dim]), tally);
    }
  }

  // p of every element, and the allowance for the angle where there is no table.
  void larger_products(const double* c, const double* s) {
    for (int64_t i = 0; i < rotary_dim_ / 2; ++i) {
      const int32_t first = pair_first(pairing_, static_cast<int32_t>(i));
      const int32_t second =
          pair_second(pairing_, static_cast<int32_t>(i), static_cast<int32_t>(rotary_dim_));
      const double x = std::abs(x_[first]);
      const double y = std::abs(x_[second]);
      const double cosine = std::abs(c[i]);
      const double sine = std::abs(s[i]);
      product_[first] = std::max(x * cosine, y * sine);
      product_[second] = std::max(y * cosine, x * sine);
      bound_[first] = bound_[second] = angle_allowance_ * (x + y);
    }
  }

  // The same as rotation_bound(), in a loop that vectorises. True if every element is a number
  // within its bound.
  bool errors_and_bounds() {
    int64_t num_odd = 0;
    for (int64_t i = 0; i < rotary_dim_; ++i) {
      const double p = product_[i];
      const double result = std::max(std::abs(want_[i]), std::abs(got_[i]));
      const double rounding = kDtype == Dtype::kF32 ? 0.0 : 0.5 * ulp_of<kDtype>(result);
      const double bound = bound_[i] + rounding + 2 * ulp_of<Dtype::kF32>(p);
      const double error = std::abs(got_[i] - want_[i]);
      bound_[i] = bound;
      error_[i] = error;
      ratio_[i] = error / bound;
      ulps_[i] = error / ulp_of<kDtype>(p);
      num_odd += ratio_[i] <= 1 ? 0 : 1;  // also NaN
    }
    return num_odd == 0;
  }

  void tally_plain(const Place& place, Tally* tally) const {
    tally->count += rotary_dim_;
    tally->max_ulp = std::max(tally->max_ulp, array(ulps_).maxCoeff());
    tally->max_abs = std::max(tally->max_abs, array(error_).maxCoeff());
    tally->total_max_abs =
        std::max(tally->total_max_abs, (array(got_) - array(exact_)).abs().maxCoeff());
    tally->sum_error2 += array(error_).square().sum();
    tally->sum_want2 += array(want_).square().sum();
    const double ratio = array(ratio_).maxCoeff();
    if (ratio > tally->max_ratio) {
      const int64_t i = std::find(ratio_.begin(), ratio_.end(), ratio) - ratio_.begin();
      set_worst(place, place.operand->offset + i, ratio, got_[i], want_[i], tally);
    }
  }

  // Right although not plainly within the bound: NaN for NaN, infinities of equal sign, and what
  // the end of the number range allows.
  bool right_specially(int64_t i) const {
    const double got = got_[i], want = want_[i];
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want)) return got == want;
    // A product beyond float32 has become infinite, and two of them may have become NaN.
    if (product_[i] > max_finite(Dtype::kF32) && !std::isfinite(got)) return true;
    const double largest = max_finite(kDtype);
    const double one_ulp = ulp_of<kDtype>(largest);
    const bool same_sign = std::signbit(got) == std::signbit(want);
    if (std::isinf(got)) {
      const double bound = rotation_bound(kDtype, want, product_[i]);
      return same_sign && std::abs(want) >= largest - std::max(one_ulp, bound);
    }
    return same_sign && std::abs(got) == largest && std::abs(std::abs(want) - largest) <= one_ulp;
  }

  void tally_element(const Place& place, int64_t i, Tally* tally) const {
    const double got = got_[i], want = want_[i];
    const bool within = ratio_[i] <= 1;
    if (!within && right_specially(i)) return;
    const bool finite = std::isfinite(error_[i]) && std::isfinite(want);
    const double error = finite ? error_[i] : std::numeric_limits<double>::infinity();
    tally->count += 1;
    tally->max_ulp =
        std::max(tally->max_ulp, finite ? ulps_[i] : std::numeric_limits<double>::infinity());
    tally->max_abs = std::max(tally->max_abs, error);
    tally->sum_error2 += error * error;
    if (std::isfinite(want)) tally->sum_want2 += want * want;
    const double total = std::abs(got - exact_[i]);
    tally->total_max_abs =
        std::max(tally->total_max_abs, finite ? total : std::numeric_limits<double>::infinity());
    const double ratio = finite ? ratio_[i] : std::numeric_limits<double>::infinity();
    if (!within) ++tally->num_over;
    if (ratio > tally->max_ratio) {
      set_worst(place, place.operand->offset + i, ratio, got, want, tally);
    }
  }

  static void set_worst(const Place& place, int64_t dim, double ratio, double got, double want,
                        Tally* tally) {
    if (ratio <= tally->max_ratio) return;
    tally->max_ratio = ratio;
    tally->worst = WorstElement{place.operand->name, place.token, place.head, dim, got, want};
  }

  Pairing pairing_;
  int64_t head_dim_, rotary_dim_;
  double angle_allowance_;
  std::vector<double> x_, got_, want_, exact_, product_, bound_, error_, ratio_, ulps_;
};

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_ROW_JUDGE_H_
