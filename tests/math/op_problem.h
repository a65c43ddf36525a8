// A launch of any op on the host: inputs, bias and weights, a float32 kernel that rounds once (or
// as its variant says), and kernels with planted mistakes.
#ifndef ROPE_BENCH_TESTS_MATH_OP_PROBLEM_H_
#define ROPE_BENCH_TESTS_MATH_OP_PROBLEM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernel_api.h"
#include "src/case/token_rows.h"
#include "src/math/inputs.h"
#include "src/math/numeric.h"
#include "src/math/reference.h"
#include "src/math/table.h"

namespace rope_bench {

enum class Mistake {
  kNone,
  kStatisticsF16,      // mean square rounded to f16
  kStorageBetween,     // rounds to the dtype between its steps
  kArithmeticStorage,  // rounds every product of the norm to the dtype
  kWeightStorage,      // forms weight + offset in the dtype
  kNoOffset,
  kNoEps,
  kSwappedWeights,
  kOtherSpan,
  kOtherOrder,   // of norm and rotation
  kNormedValue,  // the norm reaches v
  kNoBias,
  kBiasOfNextHead,
  kForward,       // turns a gradient the way of its input
  kPackedOutput,  // where a padded one was asked for
  kPositionPlusOne,
};

// q, k and v lie in one packed QKV row of a split op, on the side where it is packed.
class OpProblem {
 public:
  explicit OpProblem(const RopeCase& rope_case, int32_t precision = ROPE_PRECISION_FUSED,
                     bool with_weights = true)
      : c(rope_case), rows(token_rows_of(c)) {
    variant.op = static_cast<int32_t>(c.op);
    variant.uses_table = 1;
    variant.precision = precision;
    int64_t table_rows = 1;
    for (const int64_t row : rows.table_rows) table_rows = std::max(table_rows, row + 2);
    table = build_table(frequencies_of(c), c.rope.table.angle, table_rows, 1, c.rope.table.dtype);
    lay_out();
    fill_small(&bias, c.qkv_bias ? all_heads() * c.head_dim : 0, 11);
    const int64_t span = c.norm.span_row ? c.num_heads : 1;
    const int64_t k_span = c.norm.span_row ? c.num_kv_heads : 1;
    const bool weights = c.norm.given && with_weights;
    fill_small(&q_weight, weights ? span * c.head_dim : 0, 12);
    fill_small(&k_weight, weights ? k_span * c.head_dim : 0, 13);
    point();
  }
  OpProblem(const OpProblem& other) { *this = other; }
  OpProblem& operator=(const OpProblem& o) {
    c = o.c, variant = o.variant, rows = o.rows, table = o.table, launch = o.launch;
    for (int i = 0; i < 3; ++i) in[i] = o.in[i], out[i] = o.out[i];
    bias = o.bias, q_weight = o.q_weight, k_weight = o.k_weight;
    point();
    return *this;
  }

  // As often as `repeats` says on the same data.
  void run(Mistake mistake = Mistake::kNone, int repeats = 1);

  Accuracy referenced() const { return check_launch(c, variant, table, launch, 1); }

  bool has_value() const { return c.op != Op::kRope && c.op != Op::kRopeBackward; }
  bool backward() const { return c.op == Op::kRopeBackward || c.op == Op::kSplitRopeBackward; }

  // Element (token or output row, head, dim) of q, k or v (0, 1, 2), from the first of its buffer.
  int64_t in_index(int operand, int64_t token, int64_t head, int64_t dim) const;
  int64_t out_index(int operand, int64_t row, int64_t head, int64_t dim) const;
  // Where an operand's numbers lie: of a packed row that of q.
  std::vector<std::byte>& in_of(int operand) { return in[packed_in() ? 0 : operand]; }
  std::vector<std::byte>& out_of(int operand) { return out[packed_out() ? 0 : operand]; }

  RopeCase c;
  RopeVariant variant{};
  TokenRows rows;
  CosSinTable table;
  RopeKernelArgs launch{};
  std::vector<std::byte> in[3], out[3], bias, q_weight, k_weight;

 private:
  bool packed_in() const { return has_value() && !backward(); }
  bool packed_out() const {
    return c.op == Op::kSplitRopeBackward || (packed_in() && c.layout.in_place);
  }
  int64_t heads_of(int operand) const { return operand == 0 ? c.num_heads : c.num_kv_heads; }
  int64_t all_heads() const { return c.num_heads + 2 * c.num_kv_heads; }
  int64_t first_head(int operand) const {
    return operand == 0 ? 0 : c.num_heads + (operand == 2 ? c.num_kv_heads : 0);
  }
  int64_t width(int operand) const {
    const TensorLayout& layout = operand == 0 ? c.layout.q : c.layout.k;
    return operand == 2 ? c.head_dim
                        : std::max(c.head_dim, layout.rotary_offset + c.rope.rotary_dim);
  }
  const RopeTensor& tensor(int operand) const {
    return operand == 0 ? launch.q : operand == 1 ? launch.k : launch.v;
  }

  void lay_out();
  void point();
  void fill_small(std::vector<std::byte>* data, int64_t count, uint64_t seed) const;

  // The kernel.
  using Row = std::vector<float>;
  float stored(float x) const { return static_cast<float>(round_to(c.dtype, x)); }
  void token(int64_t t, int operand, Mistake mistake, const std::vector<std::byte>& from);
  void add_bias(int operand, Mistake mistake, Row* x) const;
  void normalise(int operand, Mistake mistake, float* x, int64_t heads, int64_t head) const;
  void rotate(int operand, int64_t table_row, Mistake mistake, Row* x) const;
};

// What a fast-math variant makes of its angles (docs/validation.md): frequency and product in
// float32, the angle reduced by the nearest multiple of a float32 turn, cos and sin off by
// `hardware`. `detune` 1 is right.
CosSinTable fast_math_table(const CosSinTable& exact, double hardware, float detune);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MATH_OP_PROBLEM_H_
