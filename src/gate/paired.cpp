#include "src/gate/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/gate/student.h"

namespace rope_bench {
namespace {

// Without any noise the sign alone decides; 0 over 0 claims nothing.
double t_value(double difference, double error) {
  if (error > 0) return difference / error;
  return difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
}

}  // namespace

PairedTest paired_test(const std::vector<double>& log_ratios, double margin) {
  PairedTest test;
  test.rounds = log_ratios.size();
  const auto n = static_cast<double>(test.rounds);
  const double mean = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) / n;
  double squares = 0;
  for (const double value : log_ratios) squares += (value - mean) * (value - mean);
  test.sd = std::sqrt(squares / (n - 1));
  const double error = test.sd / std::sqrt(n), limit = std::log1p(margin);
  const double half = student_quantile(0.025, n - 1) * error;
  test.change = {std::expm1(mean), std::expm1(mean - half), std::expm1(mean + half)};
  test.p_slower = student_upper(t_value(mean - limit, error), n - 1);
  test.p_faster = student_upper(t_value(-mean - limit, error), n - 1);
  test.p_within = student_upper(t_value(limit - mean, error), n - 1);
  return test;
}

std::vector<bool> holm(const std::vector<double>& p_values, double alpha) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    if (p_values[order[i]] > alpha / static_cast<double>(order.size() - i)) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

double false_alarm_rate(double sd, size_t rounds, double margin) {
  const auto n = static_cast<double>(rounds);
  const double error = sd / std::sqrt(n);
  if (error == 0) return 0;
  // The mean must pass margin + critical value x error, and the error itself is estimated.
  return student_upper(student_quantile(kAlpha, n - 1) + std::log1p(margin) / error, n - 1);
}

double smallest_slowdown(double sd, size_t rounds, double margin, double power) {
  const auto n = static_cast<double>(rounds);
  const double error = sd / std::sqrt(n);
  return std::expm1(std::log1p(margin) +
                    error * (student_quantile(kAlpha, n - 1) + student_quantile(1 - power, n - 1)));
}

}  // namespace rope_bench
