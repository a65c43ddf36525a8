// Reads arrays that NumPy wrote.
#ifndef ROPE_BENCH_SRC_MATH_NPY_H_
#define ROPE_BENCH_SRC_MATH_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rope_bench {

// As it lies in the file.
struct NpyFile {
  std::vector<int64_t> shape;
  std::string type;   // "<f4": little-endian, kind, bytes of an element
  std::string bytes;  // in C order
};

// Format versions 1 to 3, little-endian, C order. `types`: what is allowed, and `expected` the same
// in words. Throws ConfigError that names the file and what is wrong with it.
NpyFile read_npy_file(const std::string& path, const std::vector<std::string>& types,
                      const std::string& expected);

struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values;  // in C order
};

// The same, float32 or float64.
NpyArray read_npy(const std::string& path);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_NPY_H_
