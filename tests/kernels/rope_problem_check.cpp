// What a variant should have written, from the definition of its op in double precision, and how
// far float32 may be from it. Every element carries its value and a bound of its error through the
// steps of the op; u = 2^-24 is half a float32 ULP, relative.
//
// bias      half a float32 ULP of the sum.
// norm      the mean of n squares: n + 2 roundings, u each, and what the elements' own errors move
//           it by; half of that after the root. Root and quotient together at most 4 u (a device's
//           rsqrt is within 2 ULP), then weight + offset and two products: (n / 2 + 8) u.
// rotation  2 ULP of float32 of the larger product (docs/validation.md). Without a table cos and
//           sin are each wrong by up to 2^-23 times the attention factor; with fast math by what
//           float32 rounds from an angle (frequency, position, product, reduction: 2^-22 of it in
//           all) and by 2^-20 for the hardware's sine and cosine.
// stores    half a ULP of the dtype. Between two steps too, where the variant (unfused) or the op
//           (round_between) stores there: then the value is the rounded one, unless the error so
//           far leaves open to which side.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/kernels/problem_numbers.h"
#include "tests/kernels/rope_problem.h"

namespace rope_bench::testing {

namespace {

constexpr double kUnit = 0x1p-24;

struct Number {
  double value = 0, error = 0;
};

double ulp32(const Number& x) {
  const double most = std::fabs(x.value) + x.error;
  return std::isfinite(most) ? spacing(Dtype::kF32, most) : 0;
}

void store(Dtype dtype, Number& x) {
  // Of float32 the steps have rounded already.
  if (dtype == Dtype::kF32 || !std::isfinite(x.value)) return;
  const double low = rounded(dtype, x.value - x.error), high = rounded(dtype, x.value + x.error);
  if (low == high) {
    x = {low, 0};
  } else {
    x.error += 0.5 * spacing(dtype, std::fabs(x.value) + x.error);
  }
}

struct Angle {
  double cos, sin, error;
};

}  // namespace

// One head row.
struct Problem::Row {
  std::vector<Number> dims;
};

std::vector<Problem::Row> Problem::expect(const Operand& x, int64_t token,
                                          const RopeVariant& variant) const {
  const Dtype dtype = spec_.dtype;
  const auto size = static_cast<int64_t>(info(dtype).size);
  const bool unfused = variant.precision == ROPE_PRECISION_UNFUSED;
  const bool normed = x.rotates && spec_.norm != ROPE_NORM_NONE;
  const auto read = [&](size_t buffer, int64_t byte) {
    return widen(dtype, buffers_[buffer].pristine.data() + byte);
  };
  std::vector<Row> rows(static_cast<size_t>(x.heads));
  for (int64_t h = 0; h < x.heads; ++h) {
    Row& row = rows[static_cast<size_t>(h)];
    for (int64_t j = 0; j < x.width; ++j)
      row.dims.push_back({read(x.in.buffer, byte_of(x.in, token, h) + j * size), 0});
  }
  const auto store_all = [&] {
    for (Row& row : rows)
      for (Number& number : row.dims) store(dtype, number);
  };

  if (spec_.bias) {
    const int64_t before = &x == &operands_[0]   ? 0
                           : &x == &operands_[1] ? spec_.heads
                                                 : spec_.heads + spec_.kv_heads;
    for (int64_t h = 0; h < x.heads; ++h) {
      for (int64_t j = 0; j < spec_.head_dim; ++j) {
        Number& n = rows[static_cast<size_t>(h)].dims[static_cast<size_t>(j)];
        n.value += read(bias_, values_first_ + ((before + h) * spec_.head_dim + j) * size);
        n.error = 0.5 * ulp32(n);
      }
    }
    if (unfused && x.rotates) store_all();
  }

  const auto norm = [&](int64_t first, int64_t heads) {
    double sum = 0, moved = 0;
    const double n = static_cast<double>(heads * spec_.head_dim);
    for (int64_t h = first; h < first + heads; ++h) {
      for (const Number& number : rows[static_cast<size_t>(h)].dims) {
        sum += number.value * number.value;
        moved += std::fabs(number.value) * number.error;
      }
    }
    const double mean = sum / n + double{spec_.norm_eps};
    const double relative = (n / 2 + 8) * kUnit + moved / (n * mean);
    for (int64_t h = first; h < first + heads; ++h) {
      const int64_t weight_row = spec_.norm == ROPE_NORM_ROW ? h : 0;
      for (int64_t j = 0; j < spec_.head_dim; ++j) {
        Number& number = rows[static_cast<size_t>(h)].dims[static_cast<size_t>(j)];
        double factor = 1 / std::sqrt(mean);
        if (spec_.norm_weights) {
          const size_t weights = &x == &operands_[0] ? q_weight_ : k_weight_;
          factor *= read(weights, values_first_ + (weight_row * spec_.head_dim + j) * size) +
                    double{spec_.weight_offset};
        }
        number.value *= factor;
        number.error = number.error * std::fabs(factor) + std::fabs(number.value) * relative +
                       spacing(Dtype::kF32, 0);
      }
    }
  };
  const auto norm_all = [&] {
    if (spec_.norm == ROPE_NORM_ROW) return norm(0, x.heads);
    for (int64_t h = 0; h < x.heads; ++h) norm(h, 1);
  };

  const auto rotate_all = [&] {
    const bool backward =
        spec_.op == ROPE_OP_ROPE_BACKWARD || spec_.op == ROPE_OP_SPLIT_ROPE_BACKWARD;
    const int half = spec_.rotary_dim / 2;
    for (int i = 0; i < half; ++i) {
      Angle a{};
      if (variant.uses_table != 0) {
        a = {table_value(token, i, false), table_value(token, i, true), 0};
      } else {
        a = {exact_value(token, i, false), exact_value(token, i, true), 0x1p-23};
        if (variant.precision == ROPE_PRECISION_FAST_MATH) {
          const auto position = static_cast<double>(axis_position(token, i % num_axes()));
          a.error =
              position * static_cast<double>(frequency(i, spec_.rotary_dim)) * 0x1p-22 + 0x1p-20;
        }
        a.error *= std::fabs(double{spec_.attention_factor});
      }
      if (backward) a.sin = -a.sin;
      const int first = spec_.pairing == Pairing::kNeox ? i : 2 * i;
      const int second = spec_.pairing == Pairing::kNeox ? i + half : 2 * i + 1;
      for (Row& row : rows) {
        Number& p = row.dims[static_cast<size_t>(x.rotary_offset + first)];
        Number& q = row.dims[static_cast<size_t>(x.rotary_offset + second)];
        const auto turned = [&](const Number& of_cos, const Number& of_sin, double sine) {
          Number r{of_cos.value * a.cos + of_sin.value * sine, 0};
          r.error = of_cos.error * std::fabs(a.cos) + of_sin.error * std::fabs(sine) +
                    a.error * (std::fabs(of_cos.value) + of_cos.error + std::fabs(of_sin.value) +
                               of_sin.error);
          const double product =
              std::max((std::fabs(of_cos.value) + of_cos.error) * (std::fabs(a.cos) + a.error),
                       (std::fabs(of_sin.value) + of_sin.error) * (std::fabs(sine) + a.error));
          if (std::isfinite(product)) r.error += 2 * spacing(Dtype::kF32, product);
          return r;
        };
        const Number x_new = turned(p, q, -a.sin), y_new = turned(q, p, a.sin);
        p = x_new;
        q = y_new;
      }
    }
  };

  if (!x.rotates) return rows;
  if (normed && !spec_.norm_after) {
    norm_all();
    if (unfused || spec_.round_between) store_all();
  }
  rotate_all();
  if (normed && spec_.norm_after) {
    if (unfused || spec_.round_between) store_all();
    norm_all();
  }
  return rows;
}

// Compares the rows of a token, and notes in `expected` what may be there.
std::string Problem::check_rows(const Operand& x, int64_t token, const RopeVariant& variant,
                                std::vector<std::vector<std::byte>>& expected) const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  const std::vector<Row> rows = expect(x, token, variant);
  const int64_t out_row = tokens_[static_cast<size_t>(token)].out_row;
  for (int64_t head = 0; head < x.heads; ++head) {
    const int64_t in = byte_of(x.in, token, head), out = byte_of(x.out, out_row, head);
    for (int64_t dim = 0; dim < x.width; ++dim) {
      const std::byte* from = buffers_[x.in.buffer].pristine.data() + in + dim * size;
      const std::byte* is = buffers_[x.out.buffer].bytes.data() + out + dim * size;
      const bool rotated =
          x.rotates && dim >= x.rotary_offset && dim < x.rotary_offset + spec_.rotary_dim;
      const auto wrong = [&](const std::string& what) {
        return x.name + (" token " + std::to_string(token)) + " head " + std::to_string(head) +
               " dim " + std::to_string(dim) + ": " + what;
      };
      if (is_exact(x) && !rotated) {
        if (std::memcmp(from, is, static_cast<size_t>(size)) != 0) return wrong("bits changed");
      } else {
        const Number want = rows[static_cast<size_t>(head)].dims[static_cast<size_t>(dim)];
        const double got = widen(spec_.dtype, is);
        bool right = std::isnan(want.value) ? std::isnan(got) : got == want.value;
        double bound = want.error;
        if (std::isfinite(want.value) && std::isfinite(got)) {
          if (spec_.dtype != Dtype::kF32) {
            bound += 0.5 * spacing(spec_.dtype, std::max(std::fabs(want.value), std::fabs(got)));
          }
          right = std::fabs(got - want.value) <= bound * (1 + 1e-9);  // the double's own rounding
        }
        if (!right) {
          std::ostringstream text;
          text.precision(9);
          text << "got " << got << ", want " << want.value << " +- " << bound;
          return wrong(text.str());
        }
      }
      std::memcpy(expected[x.out.buffer].data() + out + dim * size, is, static_cast<size_t>(size));
    }
  }
  return {};
}

std::string Problem::compare_buffers(const std::vector<std::vector<std::byte>>& expected) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const std::vector<std::byte>& bytes = buffers_[i].bytes;
    const auto [is, should] = std::mismatch(bytes.begin(), bytes.end(), expected[i].begin());
    if (is == bytes.end()) continue;
    return buffers_[i].name + ": byte " + std::to_string(is - bytes.begin()) + " of " +
           std::to_string(bytes.size()) + " changed: an input, a gap, a guard band or padding";
  }
  return {};
}

std::string Problem::check(const RopeVariant& variant) const {
  std::vector<std::vector<std::byte>> expected;
  for (const Buffer& buffer : buffers_) expected.push_back(buffer.pristine);
  for (const Operand& x : operands_) {
    if (!x.rotates && !has_value()) continue;
    for (int64_t token = 0; token < spec_.num_tokens; ++token) {
      if (tokens_[static_cast<size_t>(token)].position < 0) continue;
      const std::string wrong = check_rows(x, token, variant, expected);
      if (!wrong.empty()) return wrong;
    }
  }
  return compare_buffers(expected);
}

std::string Problem::check_copied() const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  std::vector<std::vector<std::byte>> expected;
  for (const Buffer& buffer : buffers_) expected.push_back(buffer.pristine);
  for (const Operand& x : operands_) {
    if (!x.rotates && !has_value()) continue;
    for (int64_t token = 0; token < spec_.num_tokens; ++token) {
      const Token& t = tokens_[static_cast<size_t>(token)];
      for (int64_t head = 0; t.position >= 0 && head < x.heads; ++head) {
        std::memcpy(expected[x.out.buffer].data() + byte_of(x.out, t.out_row, head),
                    buffers_[x.in.buffer].pristine.data() + byte_of(x.in, token, head),
                    static_cast<size_t>(x.width * size));
      }
    }
  }
  return compare_buffers(expected);
}

}  // namespace rope_bench::testing
