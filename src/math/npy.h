// Reads arrays of floating-point numbers that NumPy wrote.
#ifndef ROPE_BENCH_SRC_MATH_NPY_H_
#define ROPE_BENCH_SRC_MATH_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rope_bench {

struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values;  // in C order
};

// Format versions 1 to 3, float32 or float64, little-endian, C order. Throws ConfigError that names
// the file and what is wrong with it.
NpyArray read_npy(const std::string& path);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_NPY_H_
