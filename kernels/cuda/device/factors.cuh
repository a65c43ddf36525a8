// Cosines and sines of a token's pairs: read from a row of the table, or formed by the block.
#ifndef ROPE_BENCH_KERNELS_CUDA_DEVICE_FACTORS_CUH_
#define ROPE_BENCH_KERNELS_CUDA_DEVICE_FACTORS_CUH_

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/index.cuh"

namespace rope_bench::device {

// Where factors come from: a table of float32, one of halves (which halves is told at run time:
// another branch for all threads alike costs less than another kernel), or the angles themselves.
enum class Source { kTable32, kTable16, kAngles };

template <int kCount>
struct Factors {
  float cosine[kCount], sine[kCount];
};

struct Table {
  const char* values = nullptr;
  int64_t row_stride = 0;  // bytes
  bool is_bf16 = false;    // of a table of halves

  static Table of(const RopeKernelArgs& args) {
    Table result;
    result.values = static_cast<const char*>(args.table);
    result.row_stride = args.table_row_stride * (args.table_dtype == ROPE_DTYPE_F32 ? 4 : 2);
    result.is_bf16 = args.table_dtype == ROPE_DTYPE_BF16;
    return result;
  }
  ROPE_DEVICE const char* row(int64_t position) const { return values + position * row_stride; }
  // Whether one short multiplication finds a row.
  bool is_short() const { return row_stride <= 0xffffffff; }
};

// What turns backwards: the sign bit of sines, flipped where they are formed or where adjacent
// pairs are turned. Halves of a table's rotation change places instead: (y, x) turned by the angle
// is (x, y) turned by its negative, in the other order.
inline uint32_t sine_flip_of(const RopeKernelArgs& args) {
  return is_backward(args) ? 0x80000000u : 0;
}

// Neighbouring pairs of a token, in its row of a table.
template <Source kSource>
struct FactorRow {
  static constexpr int kSize = kSource == Source::kTable16 ? 2 : 4;
  const char* cosines;
  const char* sines;
  uint32_t sine_flip;
  bool is_bf16;

  ROPE_DEVICE static FactorRow of(const Table& table, int64_t position, int half_dim,
                                  uint32_t sine_flip) {
    const char* row = table.row(position);
    return {row, row + half_dim * kSize, sine_flip, table.is_bf16};
  }
  // The row from that pair on.
  ROPE_DEVICE FactorRow from(int pair) const {
    return {cosines + pair * kSize, sines + pair * kSize, sine_flip, is_bf16};
  }
  ROPE_DEVICE float flipped(float sine) const {
    return float_from_bits(bits_of_float(sine) ^ sine_flip);
  }
  // kCount pairs from `first` on.
  template <int kCount>
  ROPE_DEVICE Factors<kCount> load(int first) const {
    const auto c = load_constant<kSize * kCount>(cosines + first * kSize);
    const auto s = load_constant<kSize * kCount>(sines + first * kSize);
    Factors<kCount> f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kSize == 4) {
        f.cosine[i] = get<F32>(c, i);
        f.sine[i] = get<F32>(s, i);
      } else {
        f.cosine[i] = is_bf16 ? get<BF16>(c, i) : get<F16>(c, i);
        f.sine[i] = is_bf16 ? get<BF16>(s, i) : get<F16>(s, i);
      }
    }
    return f;
  }
};

// Where a pair has its factors in a row in shared memory, of which each thread needs those of
// kLanePairs neighbouring pairs and reads four at a time. Threads that need eight would meet in
// half of the banks: there the first fours of all threads come before the second ones.
template <int kLanePairs>
ROPE_DEVICE uint32_t shared_place(uint32_t pair, uint32_t half_dim) {
  if constexpr (kLanePairs != 8) return pair;
  return (pair / 4 % 2) * (half_dim / 2) + pair / 8 * 4 + pair % 4;
}
// That of a thread's first pair.
template <int kLanePairs>
ROPE_DEVICE uint32_t lane_place(uint32_t lane) {
  return lane * (kLanePairs == 8 ? 4 : kLanePairs);
}

// The same of a row that the block has in shared memory; what turns backwards has its sines flipped
// already.
template <>
struct FactorRow<Source::kAngles> {
  static constexpr int kSize = 4;
  const float* cosines;
  const float* sines;
  int next_four = 4;  // floats from one four of pairs to the next

  ROPE_DEVICE static FactorRow of_shared(const float* row, int half_dim) {
    return {row, row + half_dim};
  }
  // From a thread's first pair on, where pairs have their shared_place().
  template <int kLanePairs>
  ROPE_DEVICE static FactorRow of_lane(const float* first, int half_dim) {
    return {first, first + half_dim, kLanePairs == 8 ? half_dim / 2 : 4};
  }
  // Not of a thread with eight pairs, whose fours are apart.
  ROPE_DEVICE FactorRow from(int pair) const { return {cosines + pair, sines + pair, next_four}; }
  ROPE_DEVICE float flipped(float sine) const { return sine; }
  template <int kCount>
  ROPE_DEVICE Factors<kCount> load(int first) const {
    using Values = Packet<kSize * kCount>;
    const int at = first / 4 * next_four + first % 4;
    const Values c = *reinterpret_cast<const Values*>(cosines + at);
    const Values s = *reinterpret_cast<const Values*>(sines + at);
    Factors<kCount> f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      f.cosine[i] = get<F32>(c, i);
      f.sine[i] = get<F32>(s, i);
    }
    return f;
  }
};

// sin(pi x) and cos(pi x) for |x| <= 1/4, each within 2^-23.6: near-minimax polynomials in x^2, of
// (sin(pi x) / x - pi) / x^2 within 4e-8 and (cos(pi x) - 1) / x^2 within 3e-8, pi in two parts.
ROPE_DEVICE void sincos_up_to_quarter(float x, float* sine, float* cosine) {
  constexpr float kPiHigh = 0x1.921fb6p+1f, kPiLow = -0x1.777a5cp-24f;
  const float u = x * x;
  float s = fused_multiply_add(u, -0x1.2ee7bcp-1f, 0x1.4665e8p+1f);
  s = fused_multiply_add(u, s, -0x1.4abbccp+2f);
  s = fused_multiply_add(u, s, kPiLow);
  *sine = fused_multiply_add(x, kPiHigh, x * s);
  float c = fused_multiply_add(u, 0x1.db6492p-3f, -0x1.55cb98p+0f);
  c = fused_multiply_add(u, c, 0x1.03c1eap+2f);
  c = fused_multiply_add(u, c, -0x1.3bd3ccp+2f);
  *cosine = fused_multiply_add(u, c, 1.0f);
}

// What angles are formed from.
struct Angles {
  // Of a pair, per position: turns in 64-bit fixed point, or inv_freq for fast_math. [half_dim]
  const char* steps = nullptr;
  uint32_t step_bytes = 8;
  const char* pair_axis = nullptr;  // null: one position per token
  const void* axis_positions = nullptr;
  int64_t num_tokens = 0;
  int32_t position_bits = 32;
  float attention_factor = 1;
  bool fast_math = false;

  static Angles of(const RopeKernelArgs& args, bool fast_math) {
    Angles result;
    result.steps = reinterpret_cast<const char*>(args.turns);
    if (fast_math) result.steps = reinterpret_cast<const char*>(args.inv_freq);
    result.step_bytes = fast_math ? 4 : 8;
    result.pair_axis = reinterpret_cast<const char*>(args.pair_axis);
    result.axis_positions = args.axis_positions;
    result.num_tokens = args.num_tokens;
    result.position_bits = args.position_bits;
    result.attention_factor = args.attention_factor;
    result.fast_math = fast_math;
    return result;
  }

  // What the angle of one pair is made of, asked for before it is needed.
  struct Asked {
    TokenMap::Asked position;
    IntegerWords step;  // inv_freq is the narrow word
  };
  ROPE_DEVICE const char* step_at(uint32_t pair) const {
    return steps + static_cast<uint64_t>(pair) * step_bytes;
  }
  ROPE_DEVICE IntegerWords ask_step(const char* at) const {
    return load_integer_words(at, !fast_math);
  }
  // The position that turns a pair, where that of its token is `position`.
  ROPE_DEVICE TokenMap::Asked ask_axis(uint32_t pair, int64_t token,
                                       const TokenMap::Asked& position) const {
    if (pair_axis == nullptr) return position;
    const int64_t axis = *reinterpret_cast<const uint8_t*>(pair_axis + pair);
    return TokenMap::ask(axis_positions, position_bits, axis * num_tokens + token);
  }

  // Cosine and sine of one pair. The position times the turns of one position wraps around at whole
  // turns as the angle does: nothing is lost, however large the position.
  ROPE_DEVICE void sincos(const Asked& asked, float* sine, float* cosine) const {
    if (fast_math) {
      const float angle =
          static_cast<float>(asked.position.value()) * float_from_bits(asked.step.narrow);
      constexpr float kInverse = 0.159154943f, kHigh = 6.28318548f, kLow = -1.74845553e-7f;
      const float turns_of_angle = nearest_integer(angle * kInverse);
      float rest = fused_multiply_add(-turns_of_angle, kHigh, angle);
      rest = fused_multiply_add(-turns_of_angle, kLow, rest);
      sincos_fast(rest, sine, cosine);
    } else {
      const uint64_t step = asked.step.low | static_cast<uint64_t>(asked.step.high) << 32;
      const uint64_t phase = static_cast<uint64_t>(asked.position.value()) * step;
      // The nearest quarter turn is taken off in integers, so that what is rounded to float32 is
      // small; put back, it swaps and negates.
      const uint32_t high = static_cast<uint32_t>(phase >> 32);
      const uint32_t quarter = (high + 0x20000000u) >> 30;
      const int32_t rest = static_cast<int32_t>(high - (quarter << 30));
      float s, c;
      sincos_up_to_quarter(static_cast<float>(rest) * 0x1p-31f, &s, &c);
      const float swapped_s = quarter % 2 == 0 ? s : c, swapped_c = quarter % 2 == 0 ? c : s;
      *sine = quarter >= 2 ? -swapped_s : swapped_s;
      *cosine = quarter == 1 || quarter == 2 ? -swapped_c : swapped_c;
    }
    *sine *= attention_factor;
    *cosine *= attention_factor;
  }
};

// Room for the factors of a block's tokens: as many as its threads rotate elements.
inline constexpr int kSharedFactors = 2048;

// The first token of the block's items, in its chunk, and how many tokens they are of.
struct BlockTokens {
  uint32_t first = 0;
  int count = 0;
};

// The factors of some tokens, formed by all threads of a block in shared memory: rows [0, count) of
// [count, 2 * half_dim], laid out by shared_place(). Whoever reads the rows meets at sync_block()
// afterwards. `position_of(row)` asks for the position of a token. kLate: finding it takes its
// time, and it is asked for when all else is here.
//
// form(), or in three steps for what others wait for: aim() before the launch may touch memory;
// begin() asks for what this thread needs first, which arrives while tensors are loaded; finish().
template <typename PositionOf, int kLanePairs = 1, bool kLate = false>
struct BlockFactors {
  const Angles& angles;
  int64_t first_token;
  int count;
  const Divisor& half_dim;
  uint32_t sine_flip;
  PositionOf position_of;
  // Of the thread's first pair; null: it has none.
  const char* step_at = nullptr;
  const char* position_at = nullptr;
  uint32_t place = 0;
  Angles::Asked asked = {};

  ROPE_DEVICE void form(float* rows) const {
    for (uint32_t i = thread(); i < size(); i += block_dim_x() * block_dim_y()) {
      const Angles::Asked now = ask(i);
      write(rows + place_of(i), now);
    }
  }

  // For fewer than 2^32 tokens.
  ROPE_DEVICE void aim(const char* positions, uint32_t position_bytes) {
    const uint32_t i = thread();
    if (i >= size()) return;
    step_at = angles.step_at(pair_of(i));
    place = place_of(i);
    settle(step_at);
    settle(place);
    if constexpr (!kLate) {
      const uint32_t token = static_cast<uint32_t>(first_token) + row_of(i);
      position_at = positions + static_cast<uint64_t>(token) * position_bytes;
      settle(position_at);
    }
  }
  // `ask_at(at, token)`: asks for the position of a token.
  template <typename AskAt>
  ROPE_DEVICE void begin(const AskAt& ask_at) {
    if (step_at == nullptr) return;
    asked.step = angles.ask_step(step_at);
    if constexpr (!kLate) {
      const uint32_t i = thread();
      const int64_t token = first_token + row_of(i);
      asked.position =
          angles.ask_axis(pair_of(i), token, ask_at(position_at, static_cast<uint32_t>(token)));
    }
  }
  ROPE_DEVICE void finish(float* rows) const {
    Angles::Asked now = asked;
    float* at = rows + place;
    for (uint32_t i = thread(); i < size();) {
      if constexpr (kLate) now.position = ask_position(i);
      write(at, now);
      i += block_dim_x() * block_dim_y();
      if (i >= size()) return;
      now.step = angles.ask_step(angles.step_at(pair_of(i)));
      if constexpr (!kLate) now.position = ask_position(i);
      at = rows + place_of(i);
    }
  }

 private:
  ROPE_DEVICE uint32_t thread() const { return thread_y() * block_dim_x() + thread_x(); }
  ROPE_DEVICE uint32_t size() const { return static_cast<uint32_t>(count) * half_dim.divisor; }
  ROPE_DEVICE uint32_t row_of(uint32_t i) const { return half_dim.small_quotient(i); }
  ROPE_DEVICE uint32_t pair_of(uint32_t i) const { return i - row_of(i) * half_dim.divisor; }
  ROPE_DEVICE TokenMap::Asked ask_position(uint32_t i) const {
    const uint32_t row = row_of(i);
    return angles.ask_axis(pair_of(i), first_token + row, position_of(row));
  }
  ROPE_DEVICE Angles::Asked ask(uint32_t i) const {
    return {ask_position(i), angles.ask_step(angles.step_at(pair_of(i)))};
  }
  ROPE_DEVICE uint32_t place_of(uint32_t i) const {
    const uint32_t half = half_dim.divisor;
    // A row has twice as many factors.
    return 2 * row_of(i) * half + shared_place<kLanePairs>(pair_of(i), half);
  }
  ROPE_DEVICE void write(float* at, const Angles::Asked& now) const {
    float sine, cosine;
    angles.sincos(now, &sine, &cosine);
    at[0] = cosine;
    at[half_dim.divisor] = float_from_bits(bits_of_float(sine) ^ sine_flip);
  }
};

}  // namespace rope_bench::device

#endif  // ROPE_BENCH_KERNELS_CUDA_DEVICE_FACTORS_CUH_
