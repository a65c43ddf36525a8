// Values computed by another implementation: tests/data/golden.
#ifndef ROPE_BENCH_TESTS_MATH_GOLDEN_H_
#define ROPE_BENCH_TESTS_MATH_GOLDEN_H_

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace rope_bench {

inline nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA_DIR) + "/golden/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MATH_GOLDEN_H_
