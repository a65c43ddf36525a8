#include "src/math/angles.h"

#include <bit>
#include <cmath>

namespace rope_bench {
namespace {

// 1 / (2 pi) = 0.15915494309189533576888376337251436203445964574... as 64 bits and the rest: a
// frequency of 1 keeps its phase to far more places than one product would.
constexpr long double kTurnsPerRadian = 0xa2f9836e4e44152ap-66L;
constexpr long double kTurnsPerRadianRest = -2.03622285290738401775433801346e-22L;
constexpr double kRadiansPerUnit = 6.28318530717958647692528676655900577 * 0x1p-64;

// Taylor series up to x^15 and x^16; |x| <= pi/4 leaves terms below 5e-17.
inline double sine_series(double x) {
  const double z = x * x;
  double sum = -1.0 / 1307674368000;
  sum = sum * z + 1.0 / 6227020800;
  sum = sum * z - 1.0 / 39916800;
  sum = sum * z + 1.0 / 362880;
  sum = sum * z - 1.0 / 5040;
  sum = sum * z + 1.0 / 120;
  sum = sum * z - 1.0 / 6;
  return x + x * (z * sum);
}

inline double cosine_series(double x) {
  const double z = x * x;
  double sum = 1.0 / 20922789888000;
  sum = sum * z - 1.0 / 87178291200;
  sum = sum * z + 1.0 / 479001600;
  sum = sum * z - 1.0 / 3628800;
  sum = sum * z + 1.0 / 40320;
  sum = sum * z - 1.0 / 720;
  sum = sum * z + 1.0 / 24;
  return 1.0 + (z * (z * sum) - 0.5 * z);
}

inline double flip_sign_if(uint64_t bit, double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) ^ (bit << 63));
}

inline void cos_sin(uint64_t phase, double* cosine, double* sine) {
  // The nearest quarter turn and what remains of the phase, at most an eighth of a turn.
  const uint64_t quarter = (phase + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(phase - (quarter << 62));
  const double x = static_cast<double>(rest) * kRadiansPerUnit;
  const double s = sine_series(x);
  const double c = cosine_series(x);
  const bool odd = (quarter & 1) != 0;
  *cosine = flip_sign_if(((quarter + 1) >> 1) & 1, odd ? s : c);
  *sine = flip_sign_if(quarter >> 1, odd ? c : s);
}

}  // namespace

void cos_sin_of_phase(uint64_t phase, double* cosine, double* sine) {
  cos_sin(phase, cosine, sine);
}

PhaseStep phase_step(long double radians_per_position) {
  if (radians_per_position < 0) {
    const PhaseStep positive = phase_step(-radians_per_position);
    // The negative of units + fraction, borrowing one unit for the fraction.
    if (positive.fraction == 0) return {-positive.units, 0};
    return {-positive.units - 1, (uint64_t{1} << 32) - positive.fraction};
  }
  const long double product = radians_per_position * kTurnsPerRadian;
  const long double error = std::fma(radians_per_position, kTurnsPerRadian, -product) +
                            radians_per_position * kTurnsPerRadianRest;
  const long double in_units = std::fmod(product, 1.0L) * 0x1p64L;
  const long double units = std::floor(in_units);
  const long double rest = std::round((in_units - units + error * 0x1p64L) * 0x1p32L);
  const int64_t carry = static_cast<int64_t>(rest);  // may be negative, or more than a unit
  return {static_cast<uint64_t>(units) + static_cast<uint64_t>(carry >> 32),
          static_cast<uint64_t>(carry) & 0xffffffff};
}

AngleRows::AngleRows(const Frequencies& f, TableAngle angle, std::shared_ptr<const RowRule> rule)
    : angle_(angle),
      attention_factor_(f.attention_factor),
      num_pairs_(static_cast<int64_t>(f.exact.size())),
      rule_(std::move(rule)) {
  add_part(0, 0, f.exact, f.float32);
  for (const FrequencySegment& s : f.segments) {
    add_part(s.first_row, s.first_position, s.exact, s.float32);
  }
}

void AngleRows::add_part(int64_t first_row, int64_t first_position,
                         const std::vector<long double>& exact, const std::vector<float>& float32) {
  Part part{first_row, first_position, {}, float32};
  for (const long double frequency : exact) part.steps.push_back(phase_step(frequency));
  parts_.push_back(std::move(part));
}

AngleRows::Place AngleRows::place_of_row(int64_t row) const {
  size_t last = parts_.size() - 1;
  while (last > 0 && row < parts_[last].first_row) --last;
  return {last, row - parts_[last].first_row + parts_[last].first_position};
}

AngleRows::Place AngleRows::place(int64_t row, int64_t pair) const {
  if (!rule_ || rule_->axis_of_pair.empty()) return place_of_row(row);
  // On each axis a position is a row of the method's table.
  return place_of_row(rule_->positions[rule_->axis_of_pair[pair]][row]);
}

void AngleRows::row(int64_t row, double* cosines, double* sines) const {
  if (!rule_ || rule_->axis_of_pair.empty()) {
    pairs(place_of_row(row), 0, num_pairs_, cosines, sines);
  } else {
    for (int64_t i = 0; i < num_pairs_; ++i) pairs(place(row, i), i, i + 1, cosines, sines);
  }
  if (!rule_ || !rule_->reversed) return;
  for (int64_t i = 0; i < num_pairs_; ++i) sines[i] = -sines[i];
}

void AngleRows::pairs(const Place& place, int64_t begin, int64_t end, double* cosines,
                      double* sines) const {
  const Part& part = parts_[place.part];
  const double af = attention_factor_;
  if (angle_ == TableAngle::kExact) {
    const uint64_t p = static_cast<uint64_t>(place.position);
    for (int64_t i = begin; i < end; ++i) {
      double c, s;
      cos_sin(part.steps[i].at(p), &c, &s);
      cosines[i] = c * af;
      sines[i] = s * af;
    }
  } else {
    const float p = static_cast<float>(place.position);
    for (int64_t i = begin; i < end; ++i) {
      const double radians = p * part.float32[i];  // the one float32 product
      cosines[i] = std::cos(radians) * af;
      sines[i] = std::sin(radians) * af;
    }
  }
}

}  // namespace rope_bench
