#include "src/gate/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/gate/paired.h"
#include "src/gate/student.h"

namespace rope_bench {

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1));
}

Noise noise_of(const AaSample& sample) {
  Noise noise;
  std::vector<double> differences, levels;
  for (size_t i = 0; i < sample.a_us.size(); ++i) {
    const double a = std::log(sample.a_us[i]), b = std::log(sample.b_us[i]);
    differences.push_back(b - a);
    levels.push_back((a + b) / 2);
  }
  noise.round = standard_deviation(differences);
  // A level is the mean of two values whose difference has variance round^2: its own share of that
  // is a quarter.
  const double level = standard_deviation(levels);
  noise.layout = std::sqrt(std::max(0.0, level * level - noise.round * noise.round / 4));
  noise.run = standard_deviation(sample.run_log);
  if (!sample.run_half.empty()) {
    noise.interval = std::accumulate(sample.run_half.begin(), sample.run_half.end(), 0.0) /
                     static_cast<double>(sample.run_half.size());
  }
  return noise;
}

Detection gate_detection(const Noise& noise, size_t rounds, double margin) {
  Detection d;
  d.false_alarm = false_alarm_rate(noise.round, rounds, margin);
  d.smallest = smallest_slowdown(noise.round, rounds, margin, kPower);
  // The margin of which false_alarm_rate is kRareAlarm.
  const double degrees = static_cast<double>(rounds) - 1,
               error = noise.round / std::sqrt(static_cast<double>(rounds));
  const double quiet = std::expm1(
      error * (student_quantile(kRareAlarm, degrees) - student_quantile(kAlpha, degrees)));
  d.margin = std::max(margin, quiet);
  return d;
}

Detection compare_detection(const Noise& noise, size_t runs, double margin) {
  Detection d;
  // The difference of two runs, and the interval that must clear the margin on top of it.
  const double sd = std::sqrt(2.0) * noise.run, half = std::sqrt(2.0) * noise.interval;
  const double degrees = static_cast<double>(runs) - 1, limit = std::log1p(margin) + half;
  d.false_alarm = sd > 0 ? student_upper(limit / sd, degrees) : 0;
  d.smallest = std::expm1(limit + sd * student_quantile(1 - kPower, degrees));
  d.margin = std::max(margin, std::expm1(sd * student_quantile(kRareAlarm, degrees) - half));
  return d;
}

}  // namespace rope_bench
