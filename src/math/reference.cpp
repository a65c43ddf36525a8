#include "src/math/reference.h"

#include <Eigen/Core>
#include <cmath>

namespace rope_bench {
namespace {

// The first or second elements of all pairs of a row: an evenly spaced walk for every pairing.
template <typename Scalar>
auto walk(Scalar* row, int32_t first, int32_t step, Eigen::Index pairs) {
  using Array = Eigen::Array<std::remove_const_t<Scalar>, Eigen::Dynamic, 1>;
  using Mapped = std::conditional_t<std::is_const_v<Scalar>, const Array, Array>;
  return Eigen::Map<Mapped, 0, Eigen::InnerStride<>>(row + first, pairs,
                                                     Eigen::InnerStride<>(step));
}

}  // namespace

void add_bias_reference(int64_t n, const double* bias, double* x) {
  Eigen::Map<Eigen::ArrayXd>(x, n) += Eigen::Map<const Eigen::ArrayXd>(bias, n);
}

double mean_square_reference(int64_t n, double eps, const double* x) {
  // The squares of all float32 numbers are numbers in double: nothing overflows.
  return Eigen::Map<const Eigen::ArrayXd>(x, n).square().mean() + eps;
}

void normalise_reference(int64_t n, double mean_eps, const double* factors, double* x) {
  Eigen::Map<Eigen::ArrayXd>(x, n) *=
      Eigen::Map<const Eigen::ArrayXd>(factors, n) / std::sqrt(mean_eps);
}

void rotate_reference(Pairing pairing, int64_t head_dim, int64_t rotary_dim, int64_t rotary_offset,
                      const double* cosines, const double* sines, const double* x, double* y) {
  const int32_t r = static_cast<int32_t>(rotary_dim);
  const Eigen::Index pairs = r / 2;
  const int32_t first = pair_first(pairing, 0);
  const int32_t second = pair_second(pairing, 0, r);
  const int32_t step = pair_first(pairing, 1) - first;
  const Eigen::Map<const Eigen::ArrayXd> c(cosines, pairs), s(sines, pairs);
  const auto a = walk(x + rotary_offset, first, step, pairs);
  const auto b = walk(x + rotary_offset, second, step, pairs);
  Eigen::Map<Eigen::ArrayXd>(y, head_dim) = Eigen::Map<const Eigen::ArrayXd>(x, head_dim);
  walk(y + rotary_offset, first, step, pairs) = a * c - b * s;
  walk(y + rotary_offset, second, step, pairs) = b * c + a * s;
}

}  // namespace rope_bench
