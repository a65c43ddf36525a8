// Ops with a bias or a norm, written once over the interface `Simd`; the translation unit includes
// the simd_*.h of its instruction set first.
//
// Mapping    a head at a time, as a row of float32 that stays in L1: load and add the bias, norm,
//            rotate, store. A norm over all heads reads them once more before the first is stored.
// Numbers    squares are summed in float32 by lanes. Where that overflows they are summed again,
//            scaled by a power of two, so that any finite row has a finite norm.
#ifndef ROPE_BENCH_KERNELS_CPU_TRANSFORM_IMPL_H_
#define ROPE_BENCH_KERNELS_CPU_TRANSFORM_IMPL_H_

#include "kernels/cpu/isa_kernels.h"
#include "kernels/cpu/rotate_impl.h"

namespace rope_bench {
namespace {

inline Simd::Vec broadcast(float x) {
  alignas(64) float lanes[kWidth];
  for (int64_t i = 0; i < kWidth; ++i) lanes[i] = x;
  return Simd::load(F32{}, reinterpret_cast<const char*>(lanes));
}

// y = x * before * scale: two factors, since the reciprocal of a huge number is a subnormal one.
struct NormScale {
  float before, scale;
};

template <typename E, bool kNeox>
class Transform {
 public:
  Transform(const RopeKernelArgs& args, int steps, float* scratch)
      : args_(args), steps_(steps), row_(reinterpret_cast<char*>(scratch)) {}

  void token(const Token& token) {
    Turn turn(args_, token);
    for_each_operand(args_, 0, heads_of(args_), [&](const RopeTensor& x, int64_t, int64_t heads) {
      operand(x, heads_at(args_, x, token, 0, heads, E::kSize), &turn);
    });
  }

 private:
  bool does(int step) const { return (steps_ & step) != 0; }

  void operand(const RopeTensor& x, const Heads& heads, Turn* turn) {
    const bool is_value = &x == &args_.v;
    const bool norms = does(kStepNorm) && !is_value && args_.norm != ROPE_NORM_NONE;
    const bool rotates = does(kStepRotate) && !is_value;
    const bool rounds = norms && rotates && args_.round_between != 0;
    const bool norm_last = norms && args_.norm_after != 0;
    if (!adds_bias() && !norms && !rotates) {  // bit for bit
      if (heads.in != heads.out) copy_heads<false>(heads, row_bytes(x, is_value));
      return;
    }
    const auto prepare = [&](int64_t head) {  // what comes before the norm
      load(x, heads.in + head * heads.in_stride, head);
      if (!norm_last) return;
      if (rotates) rotate(x, turn);
      if (rounds) round();
    };
    NormScale of_token{};
    if (norms && args_.norm == ROPE_NORM_ROW) {
      of_token = norm_scale(heads.count, [&](float before) {
        float sum = 0;
        for (int64_t head = 0; head < heads.count; ++head) {
          prepare(head);
          sum += sum_of_squares(before);
        }
        return sum;
      });
    }
    for (int64_t head = 0; head < heads.count; ++head) {
      prepare(head);
      if (norms) {
        const auto sum = [&](float before) { return sum_of_squares(before); };
        scale(x, head, args_.norm == ROPE_NORM_ROW ? of_token : norm_scale(1, sum));
      }
      if (rounds && !norm_last) round();
      if (rotates && !norm_last) rotate(x, turn);
      store(heads.out + head * heads.out_stride);
    }
  }

  bool adds_bias() const { return does(kStepBias) && args_.bias != nullptr; }
  int64_t row_bytes(const RopeTensor& x, bool is_value) const {
    return (is_value ? args_.head_dim : row_width(args_, x)) * E::kSize;
  }

  // fn(float32 lanes of the row from dim j on, j, how many of them are dims of it).
  template <typename Fn>
  void by_vectors(Fn fn) {
    for (int64_t j = 0; j < args_.head_dim; j += kWidth)
      fn(row_ + j * F32::kSize, j, args_.head_dim - j < kWidth ? args_.head_dim - j : kWidth);
  }

  // Lanes behind the row become zeros.
  void load(const RopeTensor& x, const char* in, int64_t head) {
    if (!adds_bias()) {
      return by_vectors([&](char* lanes, int64_t j, int64_t n) {
        Simd::store(F32{}, lanes, load_some(E{}, in + j * E::kSize, n));
      });
    }
    int64_t bias_row = head;
    if (&x != &args_.q) bias_row += args_.q.num_heads;
    if (&x == &args_.v) bias_row += args_.k.num_heads;
    const char* bias = static_cast<const char*>(args_.bias) + bias_row * args_.head_dim * E::kSize;
    const Simd::Vec one = broadcast(1);
    by_vectors([&](char* lanes, int64_t j, int64_t n) {
      const Simd::Vec v = load_some(E{}, in + j * E::kSize, n);
      Simd::store(F32{}, lanes, Simd::mul_add(v, one, load_some(E{}, bias + j * E::kSize, n)));
    });
  }

  void store(char* out) {
    by_vectors([&](char* lanes, int64_t j, int64_t n) {
      store_some<false>(E{}, out + j * E::kSize, Simd::load(F32{}, lanes), n);
    });
  }

  // To the dtype and back.
  void round() {
    by_vectors([&](char* lanes, int64_t, int64_t) {
      alignas(64) char stored[sizeof(Simd::Vec)];
      Simd::store(E{}, stored, Simd::load(F32{}, lanes));
      Simd::store(F32{}, lanes, Simd::load(E{}, stored));
    });
  }

  void rotate(const RopeTensor& x, Turn* turn) {
    char* slice = row_ + x.rotary_offset * F32::kSize;
    rotate_slices<F32, kNeox, false>({slice, slice, 0, 0, 1}, turn, 0);
  }

  float sum_of_squares(float before) {
    const Simd::Vec factor = broadcast(before);
    Simd::Vec sum = broadcast(0);
    by_vectors([&](char* lanes, int64_t, int64_t) {
      const Simd::Vec v = Simd::mul(Simd::load(F32{}, lanes), factor);
      sum = Simd::mul_add(v, v, sum);
    });
    alignas(64) float parts[kWidth];
    Simd::store(F32{}, reinterpret_cast<char*>(parts), sum);
    float total = 0;
    for (int64_t i = 0; i < kWidth; ++i) total += parts[i];
    return total;
  }

  // From the sum of squares of (x * before), over that many heads.
  template <typename Sum>
  NormScale norm_scale(int64_t heads, Sum sum_of) {
    constexpr float kLargest = 3.402823466e38f, kDown = 0x1p-80f;
    const auto count = static_cast<float>(heads * args_.head_dim);
    const float sum = sum_of(1.0f);
    if (sum <= kLargest) return {1, 1 / __builtin_sqrtf(sum / count + args_.norm_eps)};
    // Next to a mean of this size no epsilon matters.
    return {0.25f, 4 * kDown / __builtin_sqrtf(sum_of(kDown) / count)};
  }

  void scale(const RopeTensor& x, int64_t head, NormScale by) {
    const Simd::Vec before = broadcast(by.before), scale = broadcast(by.scale);
    const auto* weights =
        static_cast<const char*>(&x == &args_.q ? args_.q_weight : args_.k_weight);
    if (weights == nullptr) {
      return by_vectors([&](char* lanes, int64_t, int64_t) {
        const Simd::Vec v = Simd::mul(Simd::load(F32{}, lanes), before);
        Simd::store(F32{}, lanes, Simd::mul(v, scale));
      });
    }
    if (args_.norm == ROPE_NORM_ROW) weights += head * args_.head_dim * E::kSize;
    const Simd::Vec one = broadcast(1), offset = broadcast(args_.weight_offset);
    by_vectors([&](char* lanes, int64_t j, int64_t n) {
      const Simd::Vec weight =
          Simd::mul_add(load_some(E{}, weights + j * E::kSize, n), one, offset);
      const Simd::Vec v = Simd::mul(Simd::mul(Simd::load(F32{}, lanes), before), scale);
      Simd::store(F32{}, lanes, Simd::mul(v, weight));
    });
  }

  const RopeKernelArgs& args_;
  int steps_;
  char* row_;  // of float32
};

template <typename E, bool kNeox>
void transform_rows(const RopeKernelArgs& args, int64_t begin, int64_t end, int steps,
                    float* scratch) {
  Transform<E, kNeox> transform(args, steps, scratch);
  for_each_token(args, begin, end,
                 [&](const Token& token, int64_t, int64_t) { transform.token(token); });
}

}  // namespace
}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_TRANSFORM_IMPL_H_
