// How faults are planted: what a wrong kernel does in place of a right one.
#ifndef ROPE_BENCH_SRC_MEASURE_PLANTING_H_
#define ROPE_BENCH_SRC_MEASURE_PLANTING_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/math/numeric.h"
#include "src/math/scaling.h"
#include "src/measure/fault_launch.h"

namespace rope_bench::planting {

using L = FaultLaunch;
using Pair = FaultLaunch::Pair;

// The right kernel with other arguments.
template <auto kChange>
void changed(L& l) {
  kChange(&l.args);
  l.run();
}
// The right kernel with a table whose cosines and sines are changed.
template <auto kChange>
void with_table(L& l) {
  l.change_table(kChange);
  l.run();
}
// The right kernel with the table of another case.
template <auto kChange>
void with_table_of(L& l) {
  RopeCase other = l.c;
  kChange(&other);
  l.args.rotary_dim = static_cast<int32_t>(other.rope.rotary_dim);
  l.use_table_of(other);
  l.run();
}
template <int64_t kShift>
void shifted(L& l) {
  std::vector<int64_t> positions = kernel_positions_of(l.c);
  for (int64_t& position : positions) position += kShift;
  l.args.table_rows += 1;
  l.use_table_of(l.c);
  l.use_positions(positions);
  l.run();
}
template <auto kTurn>
void on_host(L& l) {
  l.rotate(kTurn);
}
// All rows right, then some of them by a wrong kernel.
template <auto kChange>
void then_wrong(L& l, int64_t begin, int64_t end) {
  l.run();
  RopeKernelArgs part = L::tokens(l.args, begin, end);
  kChange(&part);
  l.run(part);
}

inline void other_pairing(RopeKernelArgs* a) { a->pairing = 1 - a->pairing; }

inline float in_bf16(double x) { return static_cast<float>(round_to(Dtype::kBF16, x)); }

inline double attention_factor(const L& l) { return frequencies_of(l.c).attention_factor; }
inline void scale_table(L& l, double factor) {
  l.change_table([factor](float* c, float* s) {
    *c = static_cast<float>(*c * factor);
    *s = static_cast<float>(*s * factor);
  });
  l.run();
}

// Exponents -2i / head_dim, worked out here.
inline void wrong_denominator(L& l) {
  const int64_t half = l.args.rotary_dim / 2;
  std::vector<float> table(static_cast<size_t>(l.args.table_rows * 2 * half));
  for (int64_t row = 0; row < l.args.table_rows; ++row) {
    for (int64_t i = 0; i < half; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / l.args.head_dim;
      const double angle = static_cast<double>(row) * std::pow(l.c.rope.theta, exponent);
      table[static_cast<size_t>(row * 2 * half + i)] = static_cast<float>(std::cos(angle));
      table[static_cast<size_t>(row * 2 * half + half + i)] = static_cast<float>(std::sin(angle));
    }
  }
  l.use_table(table, 2 * half);
  l.run();
}

// Angles in float32, reduced by a float32 turn.
inline void fast_trigonometry(L& l) {
  l.rotate([&](Pair* p) {
    const auto inv = static_cast<float>(
        std::pow(l.c.rope.theta, -2.0 * static_cast<double>(p->index) / l.args.rotary_dim));
    constexpr float kTurn = 6.2831855f;
    const float angle = static_cast<float>(p->position) * inv;
    const float reduced = std::fma(-std::nearbyint(angle / kTurn), kTurn, angle);
    const float c = std::cos(reduced), s = std::sin(reduced), x = p->x;
    p->x = x * c - p->y * s;
    p->y = p->y * c + x * s;
  });
}

// Values of v divided by their root mean square, and times the weights of k, on the host.
template <bool kWeights>
void normalise_v(L& l) {
  l.run();
  const int64_t d = l.args.head_dim;
  const std::vector<std::byte> weights = l.read(l.args.k_weight, static_cast<size_t>(2 * d));
  for (int64_t token = 0; token < l.args.num_tokens; ++token) {
    for (int64_t head = 0; head < l.args.v.num_heads; ++head) {
      const int64_t row = token * l.args.v.out_token_stride + head * l.args.v.out_head_stride;
      std::byte* at = static_cast<std::byte*>(l.args.v.out) + 2 * row;
      std::vector<std::byte> values = l.read(at, static_cast<size_t>(2 * d));
      double sum = 0;
      for (int64_t i = 0; i < d; ++i) {
        const double x = load_as_double(Dtype::kBF16, values.data(), i);
        sum += x * x;
      }
      const double scale = 1 / std::sqrt(sum / static_cast<double>(d) + l.args.norm_eps);
      for (int64_t i = 0; i < d; ++i) {
        const double w = load_as_double(Dtype::kBF16, weights.data(), i) + l.args.weight_offset;
        store_rounded(Dtype::kBF16, values.data(), i,
                      load_as_double(Dtype::kBF16, values.data(), i) * scale * (kWeights ? w : 1));
      }
      l.write(at, values.data(), values.size());
    }
  }
}

// Work that begins with the next launch: nothing waits for it.
inline void run_late(L& l, int64_t begin) {
  if (l.args.position_source != ROPE_POSITIONS_IDS) return;
  for (const RopeKernelArgs& late : l.memory.late) l.run(late);
  l.memory.late = {L::tokens(l.args, begin, l.args.num_tokens)};
  if (begin > 0) l.run_tokens(0, begin);
}

// Keeps the output of the first launch for a pointer, and returns it ever after.
inline void cached(L& l) {
  const size_t bytes = static_cast<size_t>(l.args.num_tokens * l.args.q.out_token_stride * 2);
  const auto seen = l.memory.out.find(l.args.q.out);
  l.run();
  if (seen == l.memory.out.end()) {
    l.memory.out[l.args.q.out] = l.read(l.args.q.out, bytes);
  } else {
    l.write(l.args.q.out, seen->second.data(), bytes);
  }
}
inline void seen_pointer(L& l) {
  if (l.memory.out.count(l.args.q.out) != 0) return;
  l.memory.out[l.args.q.out] = {};
  l.run();
}

}  // namespace rope_bench::planting

#endif  // ROPE_BENCH_SRC_MEASURE_PLANTING_H_
