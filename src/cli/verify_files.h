// Somebody else's inputs and outputs, from .npy files, as a launch on the host.
#ifndef ROPE_BENCH_SRC_CLI_VERIFY_FILES_H_
#define ROPE_BENCH_SRC_CLI_VERIFY_FILES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/kernel_api.h"
#include "src/case/rope_case.h"
#include "src/cli/verify_arrays.h"
#include "src/math/table.h"

namespace rope_bench {

// Paths by the flag that gives them, "--q"; empty: not given.
struct VerifyPaths {
  std::string q, k, v, qkv, q_out, k_out, v_out, qkv_out;
  std::string table, positions, bias, q_weight, k_weight;
};

// The case as the files have it: their tokens and positions, out of place.
class VerifyFiles {
 public:
  // Throws ConfigError, one line that names the file, what it holds and what the config expects.
  VerifyFiles(const VerifyPaths& paths, const RopeCase& config);

  const RopeCase& rope_case() const { return c_; }
  const RopeKernelArgs& launch() const { return launch_; }
  // Of the file, or what the config says it should be.
  const CosSinTable& table() const { return table_; }

 private:
  void take_tokens(const char* flag, const std::string& path, const FileTensor& t, int64_t heads);
  void require_shape(const char* flag, const std::string& path, const FileTensor& t,
                     const std::vector<int64_t>& want, int64_t heads, const char* what) const;
  const std::byte* input(const char* flag, const std::string& path, int64_t heads,
                         const char* what);
  std::byte* output(const char* flag, const std::string& path, int64_t heads);
  const std::byte* vector(const char* flag, const std::string& path, int64_t count,
                          const char* what);
  void read_inputs(const VerifyPaths& paths);
  void read_outputs(const VerifyPaths& paths);
  void read_packed_outputs(const VerifyPaths& paths);
  void read_parameters(const VerifyPaths& paths);
  void read_positions(const std::string& path);
  void read_table(const std::string& path);
  // A tensor whose tokens are rows of `row_heads` heads.
  void in_strides(RopeTensor* t, int64_t heads, int64_t row_heads) const;
  void out_strides(RopeTensor* t, int64_t row_heads) const;
  // Inputs of padded outputs are packed: layout.order is that of the outputs.
  bool heads_first_in() const { return c_.layout.heads_tokens_dim && !is_padded(c_); }
  bool heads_first_out() const { return c_.layout.heads_tokens_dim; }
  // Rows of a batch entry of the outputs.
  int64_t out_rows() const { return is_padded(c_) ? padded_length_of(c_) : num_tokens_; }

  RopeCase c_;
  int64_t num_tokens_ = -1;                    // of a batch entry; -1: not known yet
  std::map<std::string, FileTensor> tensors_;  // by flag
  RopeKernelArgs launch_{};
  CosSinTable table_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_VERIFY_FILES_H_
