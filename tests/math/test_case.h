// Small cases and hand-made kernels for the tests of the mathematics.
#ifndef ROPE_BENCH_TESTS_MATH_TEST_CASE_H_
#define ROPE_BENCH_TESTS_MATH_TEST_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <numeric>
#include <vector>

#include "src/math/inputs.h"
#include "src/math/numeric.h"
#include "src/math/reference.h"
#include "src/math/scaling.h"
#include "src/math/table.h"

namespace rope_bench {

// Times mean something in an optimised build without sanitizers.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kTimesCount = true;
#else
inline constexpr bool kTimesCount = false;
#endif

// What `work` takes on two idle cores, the best of some runs: processor time, so that neighbours on
// a busy machine do not count.
template <typename Work>
double two_core_seconds(int repeats, const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 2);
  }
  return best;
}

inline RopeCase make_case(int64_t head_dim, double theta = 10000, Dtype dtype = Dtype::kF32,
                          Pairing pairing = Pairing::kNeox) {
  RopeCase c;
  c.dtype = dtype;
  c.num_heads = 1;
  c.num_kv_heads = 1;
  c.head_dim = head_dim;
  c.tokens = 1;
  c.rope.rotary_dim = head_dim;
  c.rope.theta = theta;
  c.rope.pairing = pairing;
  return c;
}

// cos and sin of one position, [rotary_dim / 2] each.
struct Row {
  std::vector<double> cosines, sines;
};
inline Row row_of(const Frequencies& f, TableAngle angle, int64_t position) {
  Row row{std::vector<double>(f.exact.size()), std::vector<double>(f.exact.size())};
  cos_sin_row(f, angle, position, row.cosines.data(), row.sines.data());
  return row;
}
inline Row row_of(const RopeCase& c, TableAngle angle, int64_t position) {
  return row_of(frequencies_of(c), angle, position);
}

// One head row rotated by the double reference with exact angles.
inline std::vector<double> rotated(const RopeCase& c, int64_t position, std::vector<double> x) {
  const Row row = row_of(c, TableAngle::kExact, position);
  std::vector<double> y(x.size());
  rotate_reference(c.rope.pairing, c.head_dim, c.rope.rotary_dim, c.layout.q.rotary_offset,
                   row.cosines.data(), row.sines.data(), x.data(), y.data());
  return y;
}

// [num_tokens, heads, head_dim], strides in elements.
struct HostTensor {
  const void* data = nullptr;
  int64_t token_stride = 0;
  int64_t head_stride = 0;
};
struct RopeTensors {
  HostTensor q_in, k_in, q_out, k_out;
};

inline RopeTensor operand(const HostTensor& in, const HostTensor& out, int64_t heads) {
  RopeTensor t{};
  t.in = in.data;
  t.out = const_cast<void*>(out.data);
  t.in_token_stride = in.token_stride;
  t.in_head_stride = in.head_stride;
  t.out_token_stride = out.token_stride;
  t.out_head_stride = out.head_stride;
  t.num_heads = static_cast<int32_t>(heads);
  return t;
}

// Checks one sequence of these positions by a launch of q and k.
inline Accuracy check_rope(RopeCase c, bool uses_table, const CosSinTable& table,
                           const std::vector<int64_t>& positions, const RopeTensors& tensors,
                           int num_threads) {
  c.batch = 1;
  c.seq_lens.clear();
  c.tokens = static_cast<int64_t>(positions.size());
  c.positions.kind = PositionKind::kExplicit;
  c.positions.list = positions;
  c.positions.offset = 0;
  RopeVariant variant{};
  variant.uses_table = uses_table ? 1 : 0;
  RopeKernelArgs launch{};
  launch.q = operand(tensors.q_in, tensors.q_out, c.num_heads);
  launch.k = operand(tensors.k_in, tensors.k_out, c.num_kv_heads);
  return check_launch(c, variant, table, launch, num_threads);
}

// q and k of a case in one packed buffer each, before and after.
struct Buffers {
  std::vector<uint8_t> q_in, k_in, q_out, k_out;

  explicit Buffers(const RopeCase& c) {
    const size_t row = static_cast<size_t>(c.num_tokens() * c.head_dim) * info(c.dtype).size;
    q_in.resize(row * static_cast<size_t>(c.num_heads));
    k_in.resize(row * static_cast<size_t>(c.num_kv_heads));
    fill_inputs(c, TensorId::kQ, c.num_heads, c.num_heads * c.head_dim, c.head_dim, q_in.data(), 2);
    fill_inputs(c, TensorId::kK, c.num_kv_heads, c.num_kv_heads * c.head_dim, c.head_dim,
                k_in.data(), 2);
    q_out = q_in;
    k_out = k_in;
  }

  RopeTensors tensors(const RopeCase& c) const {
    const int64_t q = c.num_heads * c.head_dim;
    const int64_t k = c.num_kv_heads * c.head_dim;
    return {{q_in.data(), q, c.head_dim},
            {k_in.data(), k, c.head_dim},
            {q_out.data(), q, c.head_dim},
            {k_out.data(), k, c.head_dim}};
  }
};

inline std::vector<int64_t> sequential(int64_t first, int64_t count) {
  std::vector<int64_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

inline float round_f32(Dtype dtype, double x) { return static_cast<float>(round_to(dtype, x)); }

enum class Contraction { kNone, kFirst, kSecond };

// What a planted kernel does wrong.
enum class Fault {
  kNone,
  kTableBf16,          // reads cos and sin through bf16
  kTableF16,           // through f16
  kArithmeticStorage,  // rounds both products to the dtype
  kSecondRounding,     // rounds one product to the dtype
  kRoundedThenScaled,  // rounds the result, halves and doubles it off the grid, rounds again
  kOtherPairing,
  kNegatedSin,
  kPositionPlusOne,
  kWholeHead,  // rotates with rotary_dim = head_dim
  kTwice,      // rotates its own output again
};

// A float32 kernel with one rounding of the result, or one with a fault.
class FakeKernel {
 public:
  FakeKernel(const RopeCase& c, const CosSinTable& table, Contraction contraction, Fault fault)
      : c_(c), table_(table), contraction_(contraction), fault_(fault) {}

  void run(const std::vector<int64_t>& positions, Buffers* b) const {
    run_operand(positions, b->q_in, &b->q_out, c_.num_heads, c_.layout.q.rotary_offset);
    run_operand(positions, b->k_in, &b->k_out, c_.num_kv_heads, c_.layout.k.rotary_offset);
  }

 private:
  void run_operand(const std::vector<int64_t>& positions, const std::vector<uint8_t>& in,
                   std::vector<uint8_t>* out, int64_t heads, int64_t offset) const {
    for (size_t t = 0; t < positions.size(); ++t) {
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t base = (static_cast<int64_t>(t) * heads + h) * c_.head_dim + offset;
        rotate(positions[t], in, out, base);
        if (fault_ == Fault::kTwice) rotate(positions[t], *out, out, base);
      }
    }
  }

  float multiply(float a, float b) const {
    return fault_ == Fault::kArithmeticStorage ? round_f32(c_.dtype, double{a} * b) : a * b;
  }

  // x c - y s
  float sum(float x, float c, float y, float s) const {
    if (fault_ == Fault::kSecondRounding) return round_f32(c_.dtype, double{x} * c) - y * s;
    if (contraction_ == Contraction::kFirst) return std::fma(x, c, -(y * s));
    if (contraction_ == Contraction::kSecond) return std::fma(-y, s, x * c);
    const volatile float first = multiply(x, c);
    const volatile float second = multiply(y, s);
    return first - second;
  }

  void store(std::vector<uint8_t>* out, int64_t index, float value) const {
    if (fault_ == Fault::kRoundedThenScaled) {
      value = round_f32(c_.dtype, value * 0.7f) / 0.7f;
    }
    store_rounded(c_.dtype, out->data(), index, value);
  }

  void rotate(int64_t position, const std::vector<uint8_t>& in, std::vector<uint8_t>* out,
              int64_t base) const {
    const int32_t r =
        static_cast<int32_t>(fault_ == Fault::kWholeHead ? c_.head_dim : c_.rope.rotary_dim);
    Pairing pairing = c_.rope.pairing;
    if (fault_ == Fault::kOtherPairing) {
      pairing = pairing == Pairing::kNeox ? Pairing::kGptj : Pairing::kNeox;
    }
    if (fault_ == Fault::kPositionPlusOne) ++position;
    const float* row = table_.values.data() + position * table_.rotary_dim;
    for (int32_t i = 0; i < r / 2; ++i) {
      const int32_t j = i % (table_.rotary_dim / 2);
      float c = row[j];
      float s = row[table_.rotary_dim / 2 + j];
      if (fault_ == Fault::kTableBf16)
        c = round_f32(Dtype::kBF16, c), s = round_f32(Dtype::kBF16, s);
      if (fault_ == Fault::kTableF16) c = round_f32(Dtype::kF16, c), s = round_f32(Dtype::kF16, s);
      if (fault_ == Fault::kNegatedSin) s = -s;
      const int64_t a = base + pair_first(pairing, i);
      const int64_t b = base + pair_second(pairing, i, r);
      const float x = static_cast<float>(load_as_double(c_.dtype, in.data(), a));
      const float y = static_cast<float>(load_as_double(c_.dtype, in.data(), b));
      store(out, a, sum(x, c, y, s));
      store(out, b, sum(y, c, -x, s));
    }
  }

  const RopeCase& c_;
  const CosSinTable& table_;
  Contraction contraction_;
  Fault fault_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_MATH_TEST_CASE_H_
