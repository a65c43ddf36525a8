// A small problem of any op in host memory with everything around it that can go wrong: strides,
// misaligned bases, gaps and guard bands with a pattern, NaN payloads in pass-through dims, padding
// tokens. For every test of a kernel.
#ifndef ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_
#define ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/kernel_api.h"
#include "kernels/pairing.h"

namespace rope_bench::testing {

enum class Values {
  kNormal,
  kZeroRows,  // every other token is zeros
  kHuge,      // squares overflow float32 (f16: its own range), or their sum does
  kTiny,      // the epsilon of a norm is seen
  kSpecial,   // tokens of NaN and of infinities between normal ones
};
enum class Padded { kNo, kOutRows, kBySequence };

struct ProblemSpec {
  int32_t op = ROPE_OP_ROPE;
  Dtype dtype = Dtype::kF32;
  Pairing pairing = Pairing::kNeox;
  int64_t num_tokens = 3;
  int heads = 4, kv_heads = 2;
  int head_dim = 16, rotary_dim = 16;
  int q_rotary_offset = 0, k_rotary_offset = 0;
  Values values = Values::kNormal;

  bool in_place = true;
  // q, k and v side by side in one buffer: the inputs, of backward ops the outputs. Ops without v
  // leave its columns alone.
  bool packed = false;
  int64_t token_gap = 0;     // elements between the rows of tokens
  int64_t head_gap = 0;      // elements between heads
  int base_offset = 0;       // elements by which every tensor misses its alignment
  int64_t batch_tokens = 0;  // tokens of a batch entry; 0: no batches
  bool heads_major = false;  // [B, H, S, d] instead of [B, S, H, d]
  bool out_heads_major = false;
  Padded padded = Padded::kNo;  // outputs [sequences, longest + 1]

  int position_source = ROPE_POSITIONS_IDS;
  int position_bits = 32;
  int64_t first_position = 100;
  std::vector<int64_t> seq_lens;  // empty: one; tokens behind them are padding
  int64_t skipped = 0;            // cu_seqlens: tokens before the first sequence, padding too
  bool sequence_starts = false;   // cu_seqlens: each sequence counts from a start of its own
  int padding_every = 0;          // ids and offset: each such token is padding
  int axes = 0;                   // ids: position axes
  bool reversed = false;          // turns the other way
  float attention_factor = 1;

  bool has_table = true;     // false: positions no table reaches, for variants without one
  int64_t table_rows = 256;  // or as many as the positions need
  Dtype table_dtype = Dtype::kF32;

  bool bias = false;
  int norm = ROPE_NORM_NONE;
  bool norm_weights = true;
  float weight_offset = 0;
  bool norm_after = false, round_between = false;
  float norm_eps = 1e-6f;

  std::string name() const;
};

class Problem {
 public:
  explicit Problem(const ProblemSpec& spec);

  // Runs the variant on host memory.
  void run(const RopeVariant& variant);
  // The arguments, and the buffers that they point into, for tests that run them on another memory.
  // Without a table for variants that use none.
  RopeKernelArgs args(bool uses_table = true);
  std::vector<std::vector<std::byte>*> buffers();

  // Empty, or the first thing that is wrong with what the variant has computed: an element beyond
  // its bound, a pass-through dim, anything else that changed.
  std::string check(const RopeVariant& variant) const;
  // The same for a plain copy of the input to the output; in place for no change at all.
  std::string check_copied() const;
  // Outputs back to the poison and in-place tensors to their inputs.
  void reset();
  // All buffers that are written to.
  std::vector<std::byte> output_bytes() const;
  // The rows of q, then of k, then of v, packed, without padding tokens.
  std::vector<std::byte> rotated_rows() const;

 private:
  static constexpr int64_t kGuard = 256;  // bytes around every operand, and the table
  struct Buffer {
    std::vector<std::byte> bytes, pristine;
    std::string name;
    bool output = false;
  };
  // Where an operand lies: element 0 at byte `first` of a buffer, strides in elements.
  struct Place {
    size_t buffer = 0;
    int64_t first = 0, token_stride = 0, head_stride = 0, batch_stride = 0;
    int64_t batch_tokens = 0;
    bool is_placed = false;
  };
  struct Operand {
    const char* name;
    int heads = 0, width = 0, rotary_offset = 0;
    bool rotates = true;
    Place in, out;
  };
  struct Token {
    int64_t position = 0;  // negative: padding
    int64_t out_row = 0;
  };
  // What rows of tokens are laid out as.
  struct Grid {
    int64_t batches = 1, tokens = 0;
    bool heads_major = false;
    int64_t token_gap = 0, head_gap = 0;
    int64_t batch_tokens = 0;
  };
  struct Row;  // what a check expects

  size_t add_buffer(std::string name, size_t bytes, std::byte fill);
  // A buffer of numbers at the spec's misalignment; returns its index.
  size_t add_values(const std::string& name, int64_t count, float mean, float deviation);
  void place(const std::vector<Operand*>& group, Place Operand::*side, const Grid& grid);
  void place_operands();
  void fill_operand(const Operand& x, uint64_t seed);
  void make_tokens();
  void make_positions();
  void make_angles();
  void make_table();

  bool has_value() const;
  bool is_exact(const Operand& x) const;  // pass-through dims keep their bits
  int num_axes() const { return spec_.axes > 0 ? spec_.axes : 1; }
  int64_t axis_position(int64_t token, int axis) const;
  // Cosine (or sine) of a token and pair, times the attention factor: the exact one, or the number
  // in the table.
  double exact_value(int64_t token, int pair, bool sine) const;
  double table_value(int64_t token, int pair, bool sine) const;
  int64_t byte_of(const Place& place, int64_t row, int64_t head) const;
  const void* at(size_t buffer, int64_t byte = 0);
  RopeTensor view(const Operand& x);

  std::vector<Row> expect(const Operand& x, int64_t token, const RopeVariant& variant) const;
  std::string check_rows(const Operand& x, int64_t token, const RopeVariant& variant,
                         std::vector<std::vector<std::byte>>& expected) const;
  std::string compare_buffers(const std::vector<std::vector<std::byte>>& expected) const;

  ProblemSpec spec_;
  int64_t padded_length_ = 0;
  int64_t table_rows_ = 0;
  Operand operands_[3];
  std::vector<Buffer> buffers_;
  std::vector<Token> tokens_;
  size_t table_ = 0, positions_ = 0, starts_ = 0, out_rows_ = 0, turns_ = 0, inv_freq_ = 0;
  size_t pair_axis_ = 0, axis_positions_ = 0, bias_ = 0, q_weight_ = 0, k_weight_ = 0;
  int64_t values_first_ = 0;  // byte of element 0 of bias and weights
};

// The addresses of all pointers to the device's memory, null ones included.
std::vector<const void**> pointers(RopeKernelArgs& args);

}  // namespace rope_bench::testing

#endif  // ROPE_BENCH_TESTS_KERNELS_ROPE_PROBLEM_H_
