#include "tests/kernels/rope_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

namespace rope_bench::testing {
namespace {

constexpr std::byte kPattern{0xa5};
constexpr size_t kGuard = 256;

double widen(Dtype dtype, const std::byte* p) {
  if (dtype == Dtype::kF32) {
    float value;
    std::memcpy(&value, p, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  if (dtype == Dtype::kBF16) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double spacing(Dtype dtype, double x) {
  const DtypeInfo& d = info(dtype);
  const int exponent = x == 0 ? d.min_exponent : std::max(d.min_exponent, std::ilogb(x));
  return std::ldexp(1.0, exponent - d.mantissa_bits);
}

// Some number of the dtype, by truncating a float32: no rounding to get wrong.
void write_value(Dtype dtype, std::byte* p, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (dtype == Dtype::kF32) {
    std::memcpy(p, &bits, 4);
  } else if (dtype == Dtype::kBF16) {
    const uint16_t half = static_cast<uint16_t>(bits >> 16);
    std::memcpy(p, &half, 2);
  } else {
    const int exponent = static_cast<int>(bits >> 23 & 255) - 127;
    const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const uint16_t half = exponent < -14
                              ? sign
                              : static_cast<uint16_t>(sign | (exponent + 15) << 10 |
                                                      static_cast<int>(bits >> 13 & 1023));
    std::memcpy(p, &half, 2);
  }
}

}  // namespace

std::string ProblemSpec::name() const {
  std::ostringstream text;
  text << info(dtype).name << ' ' << info(pairing).name << " T" << num_tokens << " h" << heads
       << '/' << kv_heads << " d" << head_dim << " r" << rotary_dim
       << (in_place ? " in place" : " out of place") << " gaps " << token_gap << ',' << head_gap
       << " base+" << base_offset << " i" << position_bits << " table " << info(table_dtype).name;
  return text.str();
}

float table_value(const ProblemSpec& spec, int64_t position, int pair, bool sine) {
  const double angle =
      static_cast<double>(position) * std::pow(10000.0, -2.0 * pair / spec.rotary_dim);
  const auto value = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
  std::byte stored[4];
  write_value(spec.table_dtype, stored, value);
  return static_cast<float>(widen(spec.table_dtype, stored));
}

std::vector<ProblemSpec> table_dtype_specs() {
  std::vector<ProblemSpec> specs;
  for (const Dtype table_dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      for (const Pairing pairing : {Pairing::kNeox, Pairing::kGptj}) {
        for (const int rotary_dim : {2, 6, 20, 24, 64, 1040}) {
          for (const bool in_place : {true, false}) {
            ProblemSpec spec;
            spec.table_dtype = table_dtype;
            spec.dtype = dtype;
            spec.pairing = pairing;
            spec.head_dim = rotary_dim == 64 ? 64 : rotary_dim + 8;
            spec.rotary_dim = rotary_dim;
            spec.in_place = in_place;
            specs.push_back(spec);
          }
        }
      }
    }
  }
  return specs;
}

Problem::Tensor Problem::make_tensor(int heads, uint64_t seed) const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  Tensor t;
  t.heads = heads;
  t.in_head_stride = spec_.head_dim + spec_.head_gap;
  t.in_token_stride = t.in_head_stride * heads + spec_.token_gap;
  t.out_head_stride = spec_.in_place ? t.in_head_stride : spec_.head_dim;
  t.out_token_stride = spec_.in_place ? t.in_token_stride : int64_t{spec_.head_dim} * heads;
  t.first = kGuard + static_cast<size_t>(spec_.base_offset * size);
  const auto bytes = [&](int64_t token_stride) {
    return t.first + static_cast<size_t>(token_stride * spec_.num_tokens * size) + kGuard;
  };
  t.in.assign(bytes(t.in_token_stride), kPattern);
  if (!spec_.in_place) t.out.assign(bytes(t.out_token_stride), std::byte{0x7f});
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t token = 0; token < spec_.num_tokens; ++token) {
    for (int64_t head = 0; head < heads; ++head) {
      std::byte* row =
          t.in.data() + t.first +
          static_cast<size_t>((token * t.in_token_stride + head * t.in_head_stride) * size);
      for (int dim = 0; dim < spec_.rotary_dim; ++dim)
        write_value(spec_.dtype, row + dim * size, normal(random));
      // Pass-through dims hold NaNs with payloads: only a copy of bits keeps them.
      for (size_t b = static_cast<size_t>(spec_.rotary_dim * size);
           b < static_cast<size_t>(spec_.head_dim * size); ++b) {
        row[b] = b % static_cast<size_t>(size) == static_cast<size_t>(size) - 1
                     ? std::byte{0xff}
                     : static_cast<std::byte>(0x80 | random());
      }
    }
  }
  t.pristine_in = t.in;
  t.pristine_out = t.out;
  return t;
}

Problem::Problem(const ProblemSpec& spec) : spec_(spec) {
  q_ = make_tensor(spec.heads, 1);
  k_ = make_tensor(spec.kv_heads, 2);
  const int half = spec.rotary_dim / 2;
  const auto size = static_cast<int64_t>(info(spec.table_dtype).size);
  table_.assign(kGuard + static_cast<size_t>(spec.table_rows * spec.rotary_dim * size) + kGuard,
                std::byte{0xff});
  for (int64_t token = 0; token < std::max<int64_t>(spec.num_tokens, 1); ++token) {
    const int64_t position = spec.first_position + token;
    std::byte* row = table_.data() + kGuard + static_cast<size_t>(position * spec.rotary_dim * size);
    for (int i = 0; i < half; ++i) {
      for (const bool sine : {false, true}) {
        write_value(spec.table_dtype, row + size * (i + (sine ? half : 0)),
                    table_value(spec, position, i, sine));
      }
    }
  }
  const int width = spec.position_bits / 8;
  positions_.assign(static_cast<size_t>(spec.num_tokens * width), std::byte{});
  for (int64_t token = 0; token < spec.num_tokens; ++token) {
    const int64_t position = spec.first_position + token;
    std::memcpy(positions_.data() + token * width, &position, static_cast<size_t>(width));
  }
}

RopeTensor Problem::view(Tensor& t) const {
  RopeTensor result{};
  result.in = t.in.data() + t.first;
  result.out = spec_.in_place ? t.in.data() + t.first : t.out.data() + t.first;
  result.in_token_stride = t.in_token_stride;
  result.in_head_stride = t.in_head_stride;
  result.out_token_stride = t.out_token_stride;
  result.out_head_stride = t.out_head_stride;
  result.num_heads = t.heads;
  return result;
}

RopeKernelArgs Problem::args() {
  RopeKernelArgs a{};
  a.struct_size = sizeof(a);
  a.op = ROPE_OP_ROPE;
  a.dtype = static_cast<int32_t>(spec_.dtype);
  a.pairing = static_cast<int32_t>(spec_.pairing);
  a.num_tokens = spec_.num_tokens;
  a.head_dim = spec_.head_dim;
  a.rotary_dim = spec_.rotary_dim;
  a.q = view(q_);
  a.k = view(k_);
  a.table = table_.data() + kGuard;
  a.table_rows = spec_.table_rows;
  a.table_row_stride = spec_.rotary_dim;
  a.table_dtype = static_cast<int32_t>(spec_.table_dtype);
  a.position_bits = spec_.position_bits;
  a.positions = positions_.data();
  a.num_threads = 2;
  return a;
}

std::vector<std::vector<std::byte>*> Problem::buffers() {
  std::vector<std::vector<std::byte>*> all = {&q_.in, &k_.in, &table_, &positions_};
  if (!spec_.in_place) all.insert(all.end(), {&q_.out, &k_.out});
  return all;
}

void Problem::run(const RopeVariant& variant) {
  const RopeKernelArgs a = args();
  variant.launch(&a);
}

void Problem::reset() {
  for (Tensor* t : {&q_, &k_}) {
    t->in = t->pristine_in;
    t->out = t->pristine_out;
  }
}

std::vector<std::byte> Problem::output_bytes() const {
  std::vector<std::byte> all = spec_.in_place ? q_.in : q_.out;
  const std::vector<std::byte>& k = spec_.in_place ? k_.in : k_.out;
  all.insert(all.end(), k.begin(), k.end());
  return all;
}

std::vector<std::byte> Problem::rotated_rows() const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  std::vector<std::byte> rows;
  for (const Tensor* t : {&q_, &k_}) {
    const std::vector<std::byte>& out = spec_.in_place ? t->in : t->out;
    for (int64_t token = 0; token < spec_.num_tokens; ++token) {
      for (int64_t head = 0; head < t->heads; ++head) {
        const auto row = out.begin() + static_cast<int64_t>(t->first) +
                         (token * t->out_token_stride + head * t->out_head_stride) * size;
        rows.insert(rows.end(), row, row + spec_.head_dim * size);
      }
    }
  }
  return rows;
}

std::string Problem::check() const {
  std::string wrong = check_tensor("q", q_);
  return wrong.empty() ? check_tensor("k", k_) : wrong;
}

std::string Problem::check_copied() const {
  const auto size = static_cast<int64_t>(info(spec_.dtype).size);
  for (const Tensor* t : {&q_, &k_}) {
    std::vector<std::byte> expected = t->pristine_out;
    for (int64_t token = 0; token < spec_.num_tokens; ++token) {
      for (int64_t head = 0; head < t->heads; ++head) {
        const size_t in =
            t->first +
            static_cast<size_t>((token * t->in_token_stride + head * t->in_head_stride) * size);
        const size_t to =
            t->first +
            static_cast<size_t>((token * t->out_token_stride + head * t->out_head_stride) * size);
        std::memcpy(expected.data() + to, t->pristine_in.data() + in,
                    static_cast<size_t>(spec_.head_dim * size));
      }
    }
    if (t->out != expected || t->in != t->pristine_in) return "not a copy";
  }
  return {};
}

std::string Problem::check_tensor(const char* name, const Tensor& t) const {
  const Dtype dtype = spec_.dtype;
  const auto size = static_cast<int64_t>(info(dtype).size);
  const std::vector<std::byte>& out = spec_.in_place ? t.in : t.out;
  if (!spec_.in_place && t.in != t.pristine_in) return std::string(name) + ": the input changed";
  // What may change is struck out; whatever else changed is a fault.
  std::vector<std::byte> untouched = spec_.in_place ? t.pristine_in : t.pristine_out;
  const int half = spec_.rotary_dim / 2;
  std::ostringstream wrong;
  for (int64_t token = 0; token < spec_.num_tokens; ++token) {
    for (int64_t head = 0; head < t.heads; ++head) {
      const size_t in = t.first + static_cast<size_t>(
                                      (token * t.in_token_stride + head * t.in_head_stride) * size);
      const size_t to =
          t.first +
          static_cast<size_t>((token * t.out_token_stride + head * t.out_head_stride) * size);
      const auto rotated = static_cast<size_t>(spec_.rotary_dim * size);
      const auto row = static_cast<size_t>(spec_.head_dim * size);
      if (!std::equal(t.pristine_in.begin() + static_cast<int64_t>(in + rotated),
                      t.pristine_in.begin() + static_cast<int64_t>(in + row),
                      out.begin() + static_cast<int64_t>(to + rotated))) {
        wrong << name << " token " << token << " head " << head << ": pass-through dims changed";
        return wrong.str();
      }
      std::copy_n(out.begin() + static_cast<int64_t>(to), row,
                  untouched.begin() + static_cast<int64_t>(to));
      for (int i = 0; i < half; ++i) {
        const int first = spec_.pairing == Pairing::kNeox ? i : 2 * i;
        const int second = spec_.pairing == Pairing::kNeox ? i + half : 2 * i + 1;
        const double x = widen(dtype, t.pristine_in.data() + in + first * size);
        const double y = widen(dtype, t.pristine_in.data() + in + second * size);
        const double c = table_value(spec_, spec_.first_position + token, i, false);
        const double s = table_value(spec_, spec_.first_position + token, i, true);
        for (const bool is_second : {false, true}) {
          const double want = is_second ? y * c + x * s : x * c - y * s;
          const double product = is_second ? std::max(std::fabs(y * c), std::fabs(x * s))
                                           : std::max(std::fabs(x * c), std::fabs(y * s));
          const int dim = is_second ? second : first;
          const double got = widen(dtype, out.data() + to + dim * size);
          const double bound =
              (dtype == Dtype::kF32
                   ? 0
                   : 0.5 * spacing(dtype, std::max(std::fabs(want), std::fabs(got)))) +
              2 * spacing(Dtype::kF32, product);
          if (!(std::fabs(got - want) <= bound)) {
            wrong << name << " token " << token << " head " << head << " dim " << dim << ": got "
                  << got << ", want " << want;
            return wrong.str();
          }
        }
      }
    }
  }
  if (untouched != out) return std::string(name) + ": a gap or guard band changed";
  return {};
}

}  // namespace rope_bench::testing
