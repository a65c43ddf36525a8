// A small rope problem in host memory with everything around it that can go wrong: strides,
// misaligned bases, gaps and guard bands with a pattern, NaN payloads in pass-through dims. For
// every test of a kernel.
#ifndef ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_
#define ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/kernel_api.h"
#include "kernels/pairing.h"

namespace rope_bench::testing {

struct ProblemSpec {
  Dtype dtype = Dtype::kF32;
  Pairing pairing = Pairing::kNeox;
  int64_t num_tokens = 3;
  int heads = 4, kv_heads = 2;
  int head_dim = 16, rotary_dim = 16;
  bool in_place = true;
  int64_t token_gap = 0;  // elements between the rows of tokens
  int64_t head_gap = 0;   // elements between heads
  int base_offset = 0;    // elements by which every tensor misses its alignment
  int position_bits = 32;
  int64_t first_position = 100;
  int64_t table_rows = 256;
  Dtype table_dtype = Dtype::kF32;

  std::string name() const;
};

// One byte buffer per operand; the arguments point into them.
class Problem {
 public:
  explicit Problem(const ProblemSpec& spec);

  // Runs the variant on host memory, as the arguments are.
  void run(const RopeVariant& variant);
  // The arguments, and the buffers that they point into, for tests that run them on another memory.
  RopeKernelArgs args();
  std::vector<std::vector<std::byte>*> buffers();

  // Empty, or the first thing that is wrong: an element beyond its bound, a pass-through dim, a gap
  // or guard band that changed, an input that changed.
  std::string check() const;
  // The same for a plain copy of the input to the output, out of place.
  std::string check_copied() const;
  // Outputs back to the poison and in-place tensors to their inputs.
  void reset();
  std::vector<std::byte> output_bytes() const;
  // The rows of q, then of k, packed.
  std::vector<std::byte> rotated_rows() const;

 private:
  struct Tensor {
    int heads = 0;
    std::vector<std::byte> in, out;  // `out` empty in place
    std::vector<std::byte> pristine_in, pristine_out;
    int64_t in_token_stride = 0, in_head_stride = 0, out_token_stride = 0, out_head_stride = 0;
    size_t first = 0;  // byte of element 0
  };
  Tensor make_tensor(int heads, uint64_t seed) const;
  RopeTensor view(Tensor& tensor) const;
  std::string check_tensor(const char* name, const Tensor& tensor) const;

  ProblemSpec spec_;
  Tensor q_, k_;
  std::vector<std::byte> table_, positions_;
};

// Every dtype of a table with every dtype, pairing and width of packets, one pair and many; in place
// and not.
std::vector<ProblemSpec> table_dtype_specs();

// Table value: cos (or sin) of pair i at a position, a number of the table's dtype.
float table_value(const ProblemSpec& spec, int64_t position, int pair, bool sine);

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_
