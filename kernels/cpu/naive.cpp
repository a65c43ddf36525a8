// Formula    per head row x of q and k: x + bias; x / sqrt(mean(x^2) + eps) * (w + offset); then
//            (x', y') = (x cos - y sin, y cos + x sin) for each pair (x, y) of the rotated slice,
//            cos and sin from row position of the table. norm_after: rotation, then norm. Backward:
//            sin with its sign turned. Rows of v: x + bias.
// Shapes     q [T, Hq, d], k and v [T, Hkv, d], any strides, batches and places of outputs.
// Numbers    f32, f16 or bf16 in memory, float32 arithmetic, statistics in double, one rounding to
//            nearest even, and one between norm and rotation where asked for.
// Mapping    a thread per range of tokens; head by head, scalar, through a row of float32.
// Limits     none.
// Bytes      what changes read and written once; pass-through dims only out of place.
// Source     the definition.
#include "kernels/cpu/naive.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/check.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/scalar.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/pairing.h"

namespace rope_bench {
namespace {

float factor(const char* row, int32_t dtype, int64_t i) {
  switch (dtype) {
    case ROPE_DTYPE_F32:
      return load_unaligned<float>(row + i * 4);
    case ROPE_DTYPE_F16:
      return ScalarF16::widen(load_unaligned<uint16_t>(row + i * 2));
    default:
      return ScalarBF16::widen(load_unaligned<uint16_t>(row + i * 2));
  }
}

// One operand of one token.
template <typename Scalar>
class NaiveToken {
 public:
  static constexpr int64_t kSize = sizeof(typename Scalar::Bits);

  NaiveToken(const RopeKernelArgs& args, const RopeTensor& x, const Token& token,
             std::vector<float>& row)
      : args_(args),
        x_(x),
        table_row_(table_row(args, token)),
        heads_(heads_at(args, x, token, 0, x.num_heads, kSize)),
        row_(row) {}

  void run() {
    const bool is_value = &x_ == &args_.v;
    const int32_t norm = is_value ? ROPE_NORM_NONE : args_.norm;
    double sum = 0;
    if (norm == ROPE_NORM_ROW) {  // before any head is written to
      for (int64_t head = 0; head < heads_.count; ++head) {
        load(head);
        if (args_.norm_after) rotate();
        sum += sum_of_squares();
      }
    }
    const auto normalise = [&](int64_t head) {
      const double mean = norm == ROPE_NORM_ROW
                              ? sum / static_cast<double>(heads_.count * args_.head_dim)
                              : sum_of_squares() / args_.head_dim;
      scale(head, 1 / std::sqrt(mean + double{args_.norm_eps}));
    };
    for (int64_t head = 0; head < heads_.count; ++head) {
      load(head);
      if (norm != ROPE_NORM_NONE && !args_.norm_after) {
        normalise(head);
        if (args_.round_between) round();
      }
      if (!is_value) rotate();
      if (norm != ROPE_NORM_NONE && args_.norm_after) normalise(head);
      store(head, is_value);
    }
  }

 private:
  float read(const void* array, int64_t index) const {
    return Scalar::widen(element<typename Scalar::Bits>(array, index));
  }

  // x + bias.
  void load(int64_t head) {
    const int64_t width = &x_ == &args_.v ? args_.head_dim : row_width(args_, x_);
    row_.resize(static_cast<size_t>(width));
    for (int64_t j = 0; j < width; ++j)
      row_[static_cast<size_t>(j)] = read(heads_.in + head * heads_.in_stride, j);
    if (args_.bias == nullptr) return;
    int64_t bias_row = head;
    if (&x_ != &args_.q) bias_row += args_.q.num_heads;
    if (&x_ == &args_.v) bias_row += args_.k.num_heads;
    for (int64_t j = 0; j < args_.head_dim; ++j)
      row_[static_cast<size_t>(j)] += read(args_.bias, bias_row * args_.head_dim + j);
  }

  void rotate() {
    const auto pairing = static_cast<Pairing>(args_.pairing);
    const int32_t pairs = args_.rotary_dim / 2;
    float* slice = row_.data() + x_.rotary_offset;
    for (int32_t i = 0; i < pairs; ++i) {
      float& first = slice[pair_first(pairing, i)];
      float& second = slice[pair_second(pairing, i, args_.rotary_dim)];
      const float c = factor(table_row_, args_.table_dtype, i);
      const float sine = factor(table_row_, args_.table_dtype, int64_t{pairs} + i);
      const float s = turns_back(args_) ? -sine : sine;
      const float x = first, y = second;
      first = x * c - y * s;
      second = y * c + x * s;
    }
    if (args_.norm != ROPE_NORM_NONE && args_.norm_after && args_.round_between) round();
  }

  void round() {
    for (float& x : row_) x = Scalar::widen(Scalar::narrow(x));
  }

  double sum_of_squares() const {
    double sum = 0;
    for (const float x : row_) sum += double{x} * double{x};
    return sum;
  }

  void scale(int64_t head, double by) {
    const void* weights = &x_ == &args_.q ? args_.q_weight : args_.k_weight;
    const int64_t first = args_.norm == ROPE_NORM_ROW ? head * args_.head_dim : 0;
    for (int64_t j = 0; j < args_.head_dim; ++j) {
      float& x = row_[static_cast<size_t>(j)];
      x = static_cast<float>(double{x} * by);
      if (weights != nullptr) x *= read(weights, first + j) + args_.weight_offset;
    }
  }

  void store(int64_t head, bool is_value) {
    const char* in = heads_.in + head * heads_.in_stride;
    char* out = heads_.out + head * heads_.out_stride;
    const auto width = static_cast<int64_t>(row_.size());
    const bool all_change = args_.bias != nullptr || (args_.norm != ROPE_NORM_NONE && !is_value);
    const int64_t begin = all_change ? 0 : x_.rotary_offset;
    int64_t end = all_change ? width : begin + args_.rotary_dim;
    if (is_value && !all_change) end = begin;
    if (in != out) {  // what passes through, bit for bit
      std::memcpy(out, in, static_cast<size_t>(begin * kSize));
      std::memcpy(out + end * kSize, in + end * kSize, static_cast<size_t>((width - end) * kSize));
    }
    for (int64_t j = begin; j < end; ++j)
      store_unaligned(out + j * kSize, Scalar::narrow(row_[static_cast<size_t>(j)]));
  }

  const RopeKernelArgs& args_;
  const RopeTensor& x_;
  const char* table_row_;
  Heads heads_;
  std::vector<float>& row_;
};

template <typename Scalar>
void run_tokens(const RopeKernelArgs& args, int64_t begin, int64_t end) {
  Tokens tokens(args, begin);
  std::vector<float> row;
  for (int64_t index = begin; index < end; ++index) {
    const Token token = tokens.at(index);
    if (token.position < 0) continue;
    for (const RopeTensor* x : {&args.q, &args.k}) NaiveToken<Scalar>(args, *x, token, row).run();
    if (value_heads(args) > 0) NaiveToken<Scalar>(args, args.v, token, row).run();
  }
}

}  // namespace

int32_t launch_naive(const RopeKernelArgs* args) {
  if (const int32_t refused = why_not_any(args, true, nullptr, 0)) return refused;
  const int64_t heads = heads_of(*args);
  if (heads == 0) return 0;
  const int64_t grain = (row_grain(*args) + heads - 1) / heads;
  parallel_for(args->num_threads, args->num_tokens, grain, [args](int64_t begin, int64_t end) {
    switch (args->dtype) {
      case ROPE_DTYPE_F32:
        return run_tokens<ScalarF32>(*args, begin, end);
      case ROPE_DTYPE_F16:
        return run_tokens<ScalarF16>(*args, begin, end);
      default:
        return run_tokens<ScalarBF16>(*args, begin, end);
    }
  });
  return 0;
}

}  // namespace rope_bench
