// A case of one scaling method, and what to ask of it.
#ifndef ROPE_BENCH_TESTS_MATH_SCALING_CASE_H_
#define ROPE_BENCH_TESTS_MATH_SCALING_CASE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/math/test_case.h"

namespace rope_bench {

using Params = std::map<std::string, ScalingValue>;

inline RopeCase scaled_case(int64_t rotary_dim, double theta, const std::string& type,
                            Params params, std::optional<int64_t> max_position = std::nullopt) {
  RopeCase c = make_case(rotary_dim, theta);
  c.rope.scaling = {type, std::move(params)};
  c.max_position = max_position;
  return c;
}

inline double inv(const RopeCase& c, size_t pair) {
  return static_cast<double>(frequencies_of(c).exact.at(pair));
}

inline double factor_of(const RopeCase& c) { return frequencies_of(c).attention_factor; }

inline void expect_relative(double got, double want, double relative = 1e-11) {
  EXPECT_NEAR(got, want, relative * std::abs(want));
}

inline double number_detail(const Frequencies& f, const std::string& name) {
  for (const ScalingDetail& detail : f.details) {
    if (detail.name == name) return std::get<double>(detail.value);
  }
  ADD_FAILURE() << "no detail " << name;
  return 0;
}

inline std::vector<double> list_detail(const Frequencies& f, const std::string& name) {
  for (const ScalingDetail& detail : f.details) {
    if (detail.name == name) return std::get<std::vector<double>>(detail.value);
  }
  ADD_FAILURE() << "no detail " << name;
  return {};
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                        double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MATH_SCALING_CASE_H_
