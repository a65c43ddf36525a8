// Arrays of .npy files as `verify` reads them. Errors are ConfigErrors that begin with the flag and
// the file.
#ifndef ROPE_BENCH_SRC_CLI_VERIFY_ARRAYS_H_
#define ROPE_BENCH_SRC_CLI_VERIFY_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace rope_bench {

struct FileTensor {
  std::vector<int64_t> shape;
  std::vector<std::byte> data;  // of the dtype that was asked for
};

std::string shape_text(const std::vector<int64_t>& shape);  // "(6, 2, 16)"
int64_t count_of(const std::vector<int64_t>& shape);
[[noreturn]] void refuse_file(const char* flag, const std::string& path, const std::string& what);

// Bits of `dtype`; a file of wider numbers must hold numbers of that dtype.
FileTensor read_elements(const char* flag, const std::string& path, Dtype dtype);
// int32 or int64, below 2^31.
std::vector<int64_t> read_positions_of(const char* flag, const std::string& path,
                                       std::vector<int64_t>* shape);
std::vector<double> read_floats(const std::string& path, std::vector<int64_t>* shape);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_VERIFY_ARRAYS_H_
