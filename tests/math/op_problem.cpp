#include "tests/math/op_problem.h"

#include <algorithm>

#include "src/case/positions.h"
#include "src/math/hash.h"

namespace rope_bench {

int64_t OpProblem::in_index(int operand, int64_t token, int64_t head, int64_t dim) const {
  const RopeTensor& t = tensor(operand);
  const int64_t first = packed_in() ? first_head(operand) * c.head_dim : 0;
  return first + token * t.in_token_stride + head * t.in_head_stride + dim;
}

int64_t OpProblem::out_index(int operand, int64_t row, int64_t head, int64_t dim) const {
  const RopeTensor& t = tensor(operand);
  const int64_t first = packed_out() ? first_head(operand) * c.head_dim : 0;
  const int64_t batch = launch.out_batch_tokens;
  const int64_t start = batch == 0
                            ? row * t.out_token_stride
                            : row / batch * t.out_batch_stride + row % batch * t.out_token_stride;
  return first + start + head * t.out_head_stride + dim;
}

void OpProblem::lay_out() {
  const int64_t tokens = c.num_tokens();
  int64_t out_rows = tokens;
  if (c.varlen.padded_output) {
    launch.padded_output = 1;
    launch.out_batch_tokens = longest_sequence(c);
    out_rows = launch.out_batch_tokens * static_cast<int64_t>(c.seq_lens.size());
  }
  launch.struct_size = sizeof(launch);
  launch.op = static_cast<int32_t>(c.op);
  launch.dtype = static_cast<int32_t>(c.dtype);
  launch.pairing = static_cast<int32_t>(c.rope.pairing);
  launch.num_tokens = tokens;
  launch.head_dim = static_cast<int32_t>(c.head_dim);
  launch.rotary_dim = static_cast<int32_t>(c.rope.rotary_dim);
  launch.norm = !c.norm.given ? ROPE_NORM_NONE : c.norm.span_row ? ROPE_NORM_ROW : ROPE_NORM_HEAD;
  launch.norm_after = c.norm.after_rotation ? 1 : 0;
  launch.round_between = c.norm.round_between ? 1 : 0;
  launch.norm_eps = static_cast<float>(c.norm.eps);
  launch.weight_offset = static_cast<float>(c.norm.weight_offset);
  RopeTensor* tensors[3] = {&launch.q, &launch.k, &launch.v};
  for (int i = 0; i < (has_value() ? 3 : 2); ++i) {
    RopeTensor& t = *tensors[i];
    const int64_t own = heads_of(i) * width(i), all = all_heads() * c.head_dim;
    t.num_heads = static_cast<int32_t>(heads_of(i));
    if (i < 2)
      t.rotary_offset =
          static_cast<int32_t>(i == 0 ? c.layout.q.rotary_offset : c.layout.k.rotary_offset);
    t.in_head_stride = t.out_head_stride = width(i);
    t.in_token_stride = packed_in() ? all : own;
    t.out_token_stride = packed_out() ? all : own;
    t.out_batch_stride = launch.out_batch_tokens * t.out_token_stride;
    if (c.varlen.padded_output) {  // [B, H, S, d]
      t.out_token_stride = width(i);
      t.out_head_stride = launch.out_batch_tokens * width(i);
    }
    const size_t size = info(c.dtype).size;
    if (i == 0 || !packed_in())
      in[i].resize(static_cast<size_t>(tokens * t.in_token_stride) * size);
    if (i == 0 || !packed_out())
      out[i].resize(static_cast<size_t>(out_rows * (packed_out() ? all : own)) * size);
    RopeCase wide = c;  // inputs of the whole width
    wide.head_dim = width(i);
    std::byte* to = in_of(i).data() + static_cast<size_t>(in_index(i, 0, 0, 0)) * size;
    fill_inputs(wide, static_cast<TensorId>(i), heads_of(i), t.in_token_stride, t.in_head_stride,
                to, 1);
  }
}

void OpProblem::point() {
  RopeTensor* tensors[3] = {&launch.q, &launch.k, &launch.v};
  const size_t size = info(c.dtype).size;
  for (int i = 0; i < (has_value() ? 3 : 2); ++i) {
    tensors[i]->in = in_of(i).data() + static_cast<size_t>(in_index(i, 0, 0, 0)) * size;
    tensors[i]->out = out_of(i).data() + static_cast<size_t>(out_index(i, 0, 0, 0)) * size;
  }
  launch.bias = bias.empty() ? nullptr : bias.data();
  launch.q_weight = q_weight.empty() ? nullptr : q_weight.data();
  launch.k_weight = k_weight.empty() ? nullptr : k_weight.data();
}

// Between 1/16 and 1: weights and biases as models have them.
void OpProblem::fill_small(std::vector<std::byte>* data, int64_t count, uint64_t seed) const {
  data->resize(static_cast<size_t>(count) * info(c.dtype).size);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t part = below(combine(seed, static_cast<uint64_t>(i)), 60);
    store_rounded(c.dtype, data->data(), i, (part + 4) / 63.0);
  }
}

void OpProblem::run(Mistake mistake, int repeats) {
  for (std::vector<std::byte>& data : out) std::fill(data.begin(), data.end(), std::byte{0x7f});
  for (int operand = 0; operand < (has_value() ? 3 : 2); ++operand) {
    for (int64_t t = 0; t < rows.sequence_tokens; ++t) {
      token(t, operand, mistake, in_of(operand));
      // In place: what came out goes in again; both sides are laid out alike.
      for (int i = 1; i < repeats; ++i) token(t, operand, mistake, out_of(operand));
    }
  }
}

void OpProblem::token(int64_t t, int operand, Mistake mistake, const std::vector<std::byte>& from) {
  const int64_t heads = heads_of(operand), w = width(operand);
  Row x(static_cast<size_t>(heads * w));
  std::vector<float> original;
  for (int64_t i = 0; i < heads * w; ++i)
    x[i] = static_cast<float>(
        load_as_double(c.dtype, from.data(), in_index(operand, t, i / w, i % w)));
  original = x;
  const bool steps =
      variant.precision == ROPE_PRECISION_UNFUSED || mistake == Mistake::kStorageBetween;
  const bool between = steps || c.norm.round_between;
  const auto store_all = [&] {
    for (float& value : x) value = stored(value);
  };
  const bool normed = c.norm.given && (operand != 2 || mistake == Mistake::kNormedValue);
  const bool after = c.norm.after_rotation != (mistake == Mistake::kOtherOrder);
  const auto norm = [&] {
    const bool row = c.norm.span_row != (mistake == Mistake::kOtherSpan);
    for (int64_t h = 0; h < heads; h += row ? heads : 1)
      normalise(operand, mistake, &x[static_cast<size_t>(h * w)], row ? heads : 1, h);
  };
  if (c.qkv_bias && mistake != Mistake::kNoBias) {
    add_bias(operand, mistake, &x);
    if (steps) store_all();
  }
  if (normed && !after) {
    norm();
    if (between) store_all();
  }
  if (operand != 2) rotate(operand, rows.table_rows[t], mistake, &x);
  if (normed && after) {
    if (between) store_all();
    norm();
  }
  const int64_t row = mistake == Mistake::kPackedOutput ? t : rows.out_rows[t];
  const auto size = info(c.dtype).size;
  for (int64_t i = 0; i < heads * w; ++i) {
    const int64_t to = out_index(operand, row, i / w, i % w);
    if (x[i] == original[i] || x[i] != x[i]) {  // bit for bit, also payloads
      std::copy_n(from.data() + static_cast<size_t>(in_index(operand, t, i / w, i % w)) * size,
                  size, out_of(operand).data() + static_cast<size_t>(to) * size);
      if (x[i] == original[i] || original[i] != original[i]) continue;
    }
    store_rounded(c.dtype, out_of(operand).data(), to, x[i]);
  }
}

void OpProblem::add_bias(int operand, Mistake mistake, Row* x) const {
  const int64_t w = width(operand);
  for (int64_t i = 0; i < static_cast<int64_t>(x->size()); ++i) {
    int64_t head = first_head(operand) + i / w;
    if (mistake == Mistake::kBiasOfNextHead) head = (head + 1) % all_heads();
    if (i % w < c.head_dim)
      (*x)[i] +=
          static_cast<float>(load_as_double(c.dtype, bias.data(), head * c.head_dim + i % w));
  }
}

void OpProblem::normalise(int operand, Mistake mistake, float* x, int64_t heads,
                          int64_t head) const {
  const int64_t n = heads * c.head_dim;
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  // A power of two, so that no square overflows.
  const float shrink = largest > 0x1p60f ? 0x1p-70f : 1;
  float lanes[32] = {};
  for (int64_t i = 0; i < n; ++i) {
    const float small = x[i] * shrink;
    lanes[i % 32] += small * small;
  }
  for (int width = 16; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  float mean = lanes[0] / static_cast<float>(n);
  if (mistake == Mistake::kStatisticsF16) mean = static_cast<float>(round_to(Dtype::kF16, mean));
  if (mistake != Mistake::kNoEps) mean += static_cast<float>(c.norm.eps) * shrink * shrink;
  const float scale = 1 / std::sqrt(mean);
  const bool other = (operand == 0) == (mistake == Mistake::kSwappedWeights);
  const std::vector<std::byte>& weights = other ? k_weight : q_weight;
  const int64_t count = static_cast<int64_t>(weights.size() / info(c.dtype).size);
  const bool storage = mistake == Mistake::kArithmeticStorage;
  for (int64_t i = 0; i < n; ++i) {
    float value = x[i] * shrink * scale;
    if (storage) value = stored(value);
    if (count > 0) {
      float weight = static_cast<float>(
          load_as_double(c.dtype, weights.data(), (head * c.head_dim + i) % count));
      if (mistake != Mistake::kNoOffset) weight += static_cast<float>(c.norm.weight_offset);
      if (mistake == Mistake::kWeightStorage) weight = stored(weight);
      value *= weight;
      if (storage) value = stored(value);
    }
    x[i] = value;
  }
}

CosSinTable fast_math_table(const CosSinTable& exact, double hardware, float detune) {
  CosSinTable table = exact;
  const int64_t r = table.rotary_dim;
  for (int64_t row = 0; row < table.rows; ++row) {
    for (int64_t i = 0; i < r / 2; ++i) {
      const float inv = static_cast<float>(table.frequencies.exact[static_cast<size_t>(i)]);
      const float angle = static_cast<float>(row) * (inv * detune);
      const float turns = std::nearbyint(angle * 0.159154943f);
      const float rest = std::fma(-turns, 6.28318531f, angle);
      float* values = &table.values[static_cast<size_t>(row * r + i)];
      values[0] = static_cast<float>(std::cos(rest) + hardware);
      values[r / 2] = static_cast<float>(std::sin(rest) - hardware);
    }
  }
  return table;
}

void OpProblem::rotate(int operand, int64_t table_row, Mistake mistake, Row* x) const {
  const auto r = static_cast<int32_t>(c.rope.rotary_dim);
  const int64_t w = width(operand);
  if (mistake == Mistake::kPositionPlusOne) ++table_row;
  const float* factors = &table.values[static_cast<size_t>(table_row * r)];
  const float sign = backward() && mistake != Mistake::kForward ? -1 : 1;
  const int64_t offset = operand == 0 ? c.layout.q.rotary_offset : c.layout.k.rotary_offset;
  for (int64_t start = offset; start < static_cast<int64_t>(x->size()); start += w) {
    for (int32_t i = 0; i < r / 2; ++i) {
      float& first = (*x)[start + pair_first(c.rope.pairing, i)];
      float& second = (*x)[start + pair_second(c.rope.pairing, i, r)];
      const float a = first, b = second, cosine = factors[i], sine = sign * factors[r / 2 + i];
      first = a * cosine - b * sine;
      second = b * cosine + a * sine;
    }
  }
}

}  // namespace rope_bench
