#include "tests/kernels/rope_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/kernels/problem_numbers.h"

namespace rope_bench::testing {
namespace {

constexpr std::byte kPattern{0xa5};
constexpr std::byte kPoison{0x7f};

template <typename T>
void put(std::vector<std::byte>& bytes, int64_t index, T value) {
  std::memcpy(bytes.data() + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

bool is_backward(int op) {
  return op == ROPE_OP_ROPE_BACKWARD || op == ROPE_OP_SPLIT_ROPE_BACKWARD;
}

}  // namespace

bool Problem::has_value() const {
  return spec_.op != ROPE_OP_ROPE && spec_.op != ROPE_OP_ROPE_BACKWARD;
}

bool Problem::is_exact(const Operand& x) const {
  return !spec_.bias && (spec_.norm == ROPE_NORM_NONE || !x.rotates);
}

size_t Problem::add_buffer(std::string name, size_t bytes, std::byte fill) {
  buffers_.push_back({std::vector<std::byte>(std::max<size_t>(bytes, 1), fill), {}, name, false});
  return buffers_.size() - 1;
}

size_t Problem::add_values(const std::string& name, int64_t count, float mean, float deviation) {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  const size_t index =
      add_buffer(name, static_cast<size_t>(values_first_ + count * size), kPattern);
  std::mt19937_64 random(name[0]);  // the same numbers in every layout
  std::normal_distribution<float> normal(mean, deviation);
  for (int64_t i = 0; i < count; ++i)
    write_value(spec_.dtype, buffers_[index].bytes.data() + values_first_ + i * size,
                normal(random));
  return index;
}

// The operands side by side in a new buffer, with guard bands around.
void Problem::place(const std::vector<Operand*>& group, Place Operand::*side, const Grid& grid) {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  const bool output = side == &Operand::out;
  int64_t end = 0;  // of the operands before, in elements of a token or of a batch entry
  for (Operand* x : group) {
    Place& p = x->*side;
    const int64_t row = x->width + grid.head_gap;
    p.first = end;
    p.token_stride = row;
    p.head_stride = grid.heads_major ? grid.tokens * row : row;
    p.batch_tokens = grid.batch_tokens;
    end += x->heads * p.head_stride;
  }
  const int64_t token_stride = end + grid.token_gap;
  const int64_t batch_stride =
      grid.heads_major ? token_stride : grid.tokens * token_stride + 2 * grid.token_gap;
  const int64_t base = kGuard + spec_.base_offset * size;
  const std::string name = group.size() > 1 ? "packed" : group[0]->name;
  // Room for a row also where there is no token: operands must not begin in other buffers.
  const int64_t elements = std::max(grid.batches * batch_stride, token_stride);
  const size_t buffer = add_buffer(name, static_cast<size_t>(base + elements * size + kGuard),
                                   output ? kPoison : kPattern);
  buffers_[buffer].output = output || spec_.in_place;
  for (Operand* x : group) {
    Place& p = x->*side;
    p.buffer = buffer;
    p.first = base + p.first * size;
    if (!grid.heads_major) p.token_stride = token_stride;
    p.batch_stride = batch_stride;
    p.is_placed = true;
  }
}

void Problem::place_operands() {
  const auto grid_of = [&](int64_t batch_tokens, int64_t tokens, bool heads_major) {
    Grid grid;
    grid.batch_tokens = batch_tokens;
    grid.tokens = batch_tokens > 0 ? batch_tokens : tokens;
    grid.batches = batch_tokens > 0 ? (tokens + batch_tokens - 1) / batch_tokens : 1;
    grid.heads_major = heads_major;
    return grid;
  };
  Grid in = grid_of(spec_.batch_tokens, spec_.num_tokens, spec_.heads_major);
  in.token_gap = spec_.token_gap;
  in.head_gap = spec_.head_gap;
  Grid out = grid_of(spec_.out_heads_major ? spec_.batch_tokens : 0, spec_.num_tokens,
                     spec_.out_heads_major);
  if (spec_.padded != Padded::kNo) {
    out = grid_of(padded_length_, padded_length_ * static_cast<int64_t>(spec_.seq_lens.size()),
                  spec_.out_heads_major);
  }
  Operand &q = operands_[0], &k = operands_[1], &v = operands_[2];
  const std::vector<std::vector<Operand*>> packed = {{&q, &k, &v}};
  std::vector<std::vector<Operand*>> separate = {{&q}, {&k}};
  if (has_value()) separate.push_back({&v});
  const bool backward = is_backward(spec_.op);
  for (const auto& group : spec_.packed && (!backward || spec_.in_place) ? packed : separate)
    place(group, &Operand::in, in);
  for (Operand& x : operands_) x.out = x.in;
  if (spec_.in_place) return;
  for (const auto& group : spec_.packed&& backward ? packed : separate)
    place(group, &Operand::out, out);
}

int64_t Problem::byte_of(const Place& p, int64_t row, int64_t head) const {
  const int64_t batch = p.batch_tokens > 0 ? row / p.batch_tokens : 0;
  const int64_t element = batch * p.batch_stride + (row - batch * p.batch_tokens) * p.token_stride +
                          head * p.head_stride;
  return p.first + element * static_cast<int64_t>(info(spec_.dtype).size);
}

void Problem::fill_operand(const Operand& x, uint64_t seed) {
  if (!x.in.is_placed) return;
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  std::vector<std::byte>& bytes = buffers_[x.in.buffer].bytes;
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  const bool is_used = x.rotates || has_value();
  const auto value = [&](int64_t token) -> float {
    const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
    switch (spec_.values) {
      case Values::kNormal:
        break;
      case Values::kZeroRows:
        if (token % 2 == 0) return 0;
        break;
      case Values::kHuge: {
        // C113: one square overflows, or the sum alone. C106: 6e4; rotations make numbers larger by
        // up to the root of 2 times the attention factor.
        float huge = token % 2 == 0 ? 1e25f : 2e18f;
        if (spec_.dtype == Dtype::kF16) huge = spec_.norm_after ? 3e4f : 6e4f;
        return sign * huge * (0.9f + 0.1f * static_cast<float>(random() % 64) / 64);
      }
      case Values::kTiny:
        return 1e-3f * normal(random);
      case Values::kSpecial:
        if (token % 4 == 2) return NAN;
        if (token % 4 == 3) return sign * INFINITY;
        break;
    }
    return normal(random);
  };
  for (int64_t token = 0; token < spec_.num_tokens; ++token) {
    const bool padding = tokens_[static_cast<size_t>(token)].position < 0;
    for (int64_t head = 0; head < x.heads; ++head) {
      std::byte* row = bytes.data() + byte_of(x.in, token, head);
      for (int dim = 0; dim < x.width; ++dim) {
        const bool rotated =
            x.rotates && dim >= x.rotary_offset && dim < x.rotary_offset + spec_.rotary_dim;
        std::byte* element = row + dim * size;
        if (!padding && is_used && (rotated || !is_exact(x))) {
          write_value(spec_.dtype, element, value(token));
          continue;
        }
        // NaNs with payloads: only a copy of bits keeps them.
        for (int64_t b = 0; b < size; ++b) element[b] = static_cast<std::byte>(0x80 | random());
        element[size - 1] = std::byte{0xff};
      }
    }
  }
}

Problem::Problem(const ProblemSpec& spec) : spec_(spec) {
  if (spec_.seq_lens.empty() && spec_.position_source == ROPE_POSITIONS_CU_SEQLENS)
    spec_.seq_lens = {spec_.num_tokens};
  values_first_ = spec.base_offset * static_cast<int64_t>(info(spec.dtype).size);
  make_tokens();
  const auto width = [&](int offset) { return std::max(spec.head_dim, offset + spec.rotary_dim); };
  operands_[0] = {"q", spec.heads, width(spec.q_rotary_offset), spec.q_rotary_offset, true, {}, {}};
  operands_[1] = {"k", spec.kv_heads, width(spec.k_rotary_offset), spec.k_rotary_offset, true, {},
                  {}};
  operands_[2] = {"v", spec.kv_heads, spec.head_dim, 0, false, {}, {}};
  place_operands();
  for (size_t i = 0; i < 3; ++i) fill_operand(operands_[i], i + 1);
  make_positions();
  make_angles();
  make_table();
  const int64_t rows = spec.norm == ROPE_NORM_ROW ? 1 : 0;  // weights per head, or for all
  const float mean = 1 - spec.weight_offset;
  q_weight_ = add_values("q_weight", spec.head_dim * (rows ? spec.heads : 1), mean, 0.25f);
  k_weight_ = add_values("k_weight", spec.head_dim * (rows ? spec.kv_heads : 1), mean, 0.25f);
  bias_ = add_values("bias", int64_t{spec.head_dim} * (spec.heads + 2 * spec.kv_heads), 0, 0.5f);
  for (Buffer& buffer : buffers_) buffer.pristine = buffer.bytes;
}

void Problem::make_tokens() {
  const int64_t longest =
      spec_.seq_lens.empty() ? 0 : *std::max_element(spec_.seq_lens.begin(), spec_.seq_lens.end());
  padded_length_ = longest + 1;
  if (spec_.seq_lens.empty()) {
    const int64_t length = spec_.batch_tokens > 0 ? spec_.batch_tokens : spec_.num_tokens;
    for (int64_t t = 0; t < spec_.num_tokens; ++t)
      tokens_.push_back({spec_.first_position + t % length, t});
  }
  const bool sequences = spec_.position_source == ROPE_POSITIONS_CU_SEQLENS;
  tokens_.insert(tokens_.end(), static_cast<size_t>(spec_.skipped), {-1, -1});
  for (size_t b = 0; b < spec_.seq_lens.size(); ++b) {
    const auto sequence = static_cast<int64_t>(b);
    const int64_t own = spec_.first_position + 3 * sequence;
    const int64_t start = spec_.sequence_starts || !sequences ? own : 0;
    for (int64_t s = 0; s < spec_.seq_lens[b]; ++s)
      tokens_.push_back({start + s, sequence * padded_length_ + s});
  }
  tokens_.resize(static_cast<size_t>(spec_.num_tokens), {-1, -1});
  for (int64_t t = 0; t < spec_.num_tokens; ++t) {
    Token& token = tokens_[static_cast<size_t>(t)];
    if (spec_.padded == Padded::kNo) token.out_row = t;
    if (spec_.axes > 0 && token.position >= 0) token.position = t;  // the row of the table
    if (spec_.padding_every > 0 && (t + 1) % spec_.padding_every == 0) token.position = -1 - t % 5;
    table_rows_ = std::max(table_rows_, token.position + 1);
  }
  table_rows_ = spec_.has_table ? std::max(table_rows_, spec_.table_rows) : 1;
}

void Problem::make_positions() {
  const auto count = static_cast<size_t>(spec_.num_tokens);
  const size_t width = static_cast<size_t>(spec_.position_bits) / 8;
  const auto write = [&](size_t buffer, int64_t index, int64_t value) {
    width == 8 ? put(buffers_[buffer].bytes, index, value)
               : put(buffers_[buffer].bytes, index, static_cast<int32_t>(value));
  };
  const auto num_sequences = static_cast<int64_t>(spec_.seq_lens.size());
  const auto sequences = static_cast<size_t>(num_sequences);
  // Of just their size, so that a sanitizer sees a read behind them.
  starts_ = add_buffer("sequence_starts", 4 * sequences, kPattern);
  out_rows_ = add_buffer("out_rows", 4 * count, kPattern);
  axis_positions_ =
      add_buffer("axis_positions", width * count * static_cast<size_t>(num_axes()), kPattern);
  const bool cu_seqlens = spec_.position_source == ROPE_POSITIONS_CU_SEQLENS;
  const bool ids = spec_.position_source == ROPE_POSITIONS_IDS;
  positions_ = add_buffer("positions", cu_seqlens ? 4 * (sequences + 1) : (ids ? width : 4) * count,
                          kPattern);
  for (int64_t t = 0; t < spec_.num_tokens; ++t) {
    const Token& token = tokens_[static_cast<size_t>(t)];
    put(buffers_[out_rows_].bytes, t, static_cast<int32_t>(token.out_row));
    for (int axis = 0; axis < num_axes(); ++axis)
      write(axis_positions_, axis * spec_.num_tokens + t, axis_position(t, axis));
    if (spec_.position_source == ROPE_POSITIONS_IDS) write(positions_, t, token.position);
    if (spec_.position_source == ROPE_POSITIONS_OFFSET)
      put(buffers_[positions_].bytes, t, static_cast<int32_t>(token.position - t));
  }
  int64_t end = spec_.skipped;
  for (int64_t b = 0; b < num_sequences; ++b) {
    put(buffers_[starts_].bytes, b, static_cast<int32_t>(spec_.first_position + 3 * b));
    if (cu_seqlens) put(buffers_[positions_].bytes, b, static_cast<int32_t>(end));
    end += spec_.seq_lens[static_cast<size_t>(b)];
  }
  if (cu_seqlens) put(buffers_[positions_].bytes, num_sequences, static_cast<int32_t>(end));
}

int64_t Problem::axis_position(int64_t token, int axis) const {
  if (spec_.axes == 0) return tokens_[static_cast<size_t>(token)].position;
  return spec_.first_position + token * (2 * axis + 1) % 50;
}

void Problem::make_angles() {
  const int pairs = spec_.rotary_dim / 2;
  turns_ = add_buffer("turns", static_cast<size_t>(pairs) * 8, kPattern);
  inv_freq_ = add_buffer("inv_freq", static_cast<size_t>(pairs) * 4, kPattern);
  pair_axis_ = add_buffer("pair_axis", static_cast<size_t>(pairs), kPattern);
  for (int i = 0; i < pairs; ++i) {
    const long double turn = frequency(i, spec_.rotary_dim) * (spec_.reversed ? -1 : 1);
    put(buffers_[turns_].bytes, i, turns_of(turn));
    put(buffers_[inv_freq_].bytes, i, static_cast<float>(turn));
    put(buffers_[pair_axis_].bytes, i, static_cast<uint8_t>(i % num_axes()));
  }
}

double Problem::exact_value(int64_t token, int pair, bool sine) const {
  const long double angle = frequency(pair, spec_.rotary_dim) * (spec_.reversed ? -1 : 1) *
                            static_cast<long double>(axis_position(token, pair % num_axes()));
  return static_cast<double>(sine ? std::sin(angle) : std::cos(angle)) *
         double{spec_.attention_factor};
}

double Problem::table_value(int64_t token, int pair, bool sine) const {
  const int64_t column = pair + (sine ? spec_.rotary_dim / 2 : 0);
  const int64_t element = tokens_[static_cast<size_t>(token)].position * spec_.rotary_dim + column;
  const auto size = static_cast<int64_t>(info(spec_.table_dtype).size);
  return widen(spec_.table_dtype, buffers_[table_].pristine.data() + kGuard + element * size);
}

void Problem::make_table() {
  const auto size = static_cast<int64_t>(info(spec_.table_dtype).size);
  const int64_t bytes = table_rows_ * spec_.rotary_dim * size;
  // Rows of no token, and what surrounds the table, are NaN.
  table_ = add_buffer("table", static_cast<size_t>(kGuard + bytes + kGuard), std::byte{0xff});
  if (!spec_.has_table) return;
  const int half = spec_.rotary_dim / 2;
  for (int64_t t = 0; t < spec_.num_tokens; ++t) {
    const int64_t position = tokens_[static_cast<size_t>(t)].position;
    if (position < 0) continue;
    std::byte* row = buffers_[table_].bytes.data() + kGuard + position * spec_.rotary_dim * size;
    for (int i = 0; i < half; ++i) {
      for (const bool sine : {false, true}) {
        write_value(spec_.table_dtype, row + size * (i + (sine ? half : 0)),
                    static_cast<float>(exact_value(t, i, sine)));
      }
    }
  }
}

}  // namespace rope_bench::testing
