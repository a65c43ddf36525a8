#include "src/gate/student.h"

#include <cmath>

namespace rope_bench {
namespace {

// Regularised incomplete beta function I_x(a, b) by its continued fraction (DLMF 8.17.22), Lentz's
// evaluation. Converges fast for x < (a + 1) / (a + b + 2); elsewhere by symmetry.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  constexpr double kTiny = 1e-300;
  const auto bounded = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / bounded(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / bounded(1 + even * d);
    c = bounded(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / bounded(1 + odd * d);
    c = bounded(1 + odd / c);
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * fraction / a;
}

}  // namespace

double student_upper(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double tail = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t >= 0 ? tail : 1 - tail;
}

double student_quantile(double upper, double degrees) {
  double low = -1, high = 1;
  while (student_upper(high, degrees) > upper) high *= 2;
  while (student_upper(low, degrees) < upper) low *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * std::fabs(high); ++i) {
    const double middle = (low + high) / 2;
    (student_upper(middle, degrees) > upper ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace rope_bench
