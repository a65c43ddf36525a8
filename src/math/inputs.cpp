#include "src/math/inputs.h"

#include <algorithm>

#include "kernels/cpu/thread_pool.h"
#include "src/math/convert.h"
#include "src/math/hash.h"

namespace rope_bench {
namespace {

// Nearly N(0, 1): the eight bytes of a hash summed (mean 1020, variance 8 (256^2 - 1) / 12), made
// continuous by 20 more bits, centred and scaled. Never above 4.9 in magnitude.
inline float normal(uint64_t hash) {
  const uint64_t pairs = (hash & 0x00ff00ff00ff00ffu) + ((hash >> 8) & 0x00ff00ff00ff00ffu);
  const uint64_t sum = (pairs * 0x0001000100010001u) >> 48;
  const uint64_t fraction = (hash * kCounterStep) >> 44;
  const int32_t centred = static_cast<int32_t>((sum << 20) + fraction) - (2041 << 19);
  constexpr float kScale = 4.5625606e-9f;  // 1 / (2^20 sqrt((8 (256^2 - 1) + 1) / 12))
  return static_cast<float>(centred) * kScale;
}

// Sign, exponent field and mantissa of an element, put together without any rounding.
template <Dtype kDtype>
inline auto from_fields(uint64_t sign, uint64_t exponent_field, uint64_t mantissa) {
  constexpr DtypeInfo kInfo = info(kDtype);
  constexpr int kSignBit = static_cast<int>(kInfo.size) * 8 - 1;
  constexpr uint64_t kMantissaMask = (uint64_t{1} << kInfo.mantissa_bits) - 1;
  return static_cast<typename Element<kDtype>::Storage>(((sign & 1) << kSignBit) |
                                                        (exponent_field << kInfo.mantissa_bits) |
                                                        (mantissa & kMantissaMask));
}

template <Dtype kDtype>
constexpr int kBias = info(kDtype).max_exponent;

// One generator per data kind: element(hash of the element, hash of its row).
struct Normal {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    return Element<kDtype>::from_float(normal(hash));
  }
};

// [-1, 1) in steps of 2^-23.
struct Uniform {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    const int32_t steps = static_cast<int32_t>(hash >> 40) - (1 << 23);
    return Element<kDtype>::from_float(static_cast<float>(steps) * 0x1p-23f);
  }
};

// Every binade of a wide range alike: partners of a pair differ by many orders of magnitude.
struct Wide {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    constexpr int kLow = kDtype == Dtype::kF16 ? -14 : -60;
    constexpr int kHigh = kDtype == Dtype::kF16 ? 13 : 60;
    return from_fields<kDtype>(hash >> 31, below(hash, kHigh - kLow + 1) + kBias<kDtype> + kLow,
                               hash);
  }
};

// Half subnormal (zero included), half in the smallest normal binade.
struct Subnormal {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    return from_fields<kDtype>(hash >> 31, (hash >> 32) & 1, hash);
  }
};

// All elements of a row within 4 ULP of one magnitude, signs at random: whichever dims make a pair,
// its two products nearly cancel wherever the angle is near an odd multiple of pi / 4.
struct Cancel {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t row) {
    const uint64_t exponent = kBias<kDtype> - 2 + below(row, 5);
    const uint64_t mantissa =
        std::min<uint64_t>(row & ((uint64_t{1} << info(kDtype).mantissa_bits) - 1),
                           (uint64_t{1} << info(kDtype).mantissa_bits) - 4);
    return from_fields<kDtype>(hash >> 31, exponent, mantissa + (hash & 3));
  }
};

// The top four binades, up to the largest finite number: some sums overflow, and must.
struct Large {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    return from_fields<kDtype>(hash >> 31, 2 * kBias<kDtype> - ((hash >> 32) & 3), hash);
  }
};

// One normal value per row.
struct Constant {
  template <Dtype kDtype>
  static auto element(uint64_t, uint64_t row) {
    return Element<kDtype>::from_float(normal(row));
  }
};

// Normal, but of 64 elements one NaN with a random payload (quiet or signalling), one infinity and
// one zero of either sign, in rotated and pass-through dims alike.
struct Special {
  template <Dtype kDtype>
  static auto element(uint64_t hash, uint64_t) {
    constexpr uint64_t kTopField = 2 * kBias<kDtype> + 1;
    const uint64_t extra = mix64(hash);
    const uint64_t payload =
        std::max<uint64_t>(extra & ((uint64_t{1} << info(kDtype).mantissa_bits) - 1), 1);
    const auto nan = from_fields<kDtype>(extra >> 31, kTopField, payload);
    const auto infinity = from_fields<kDtype>(extra >> 31, kTopField, 0);
    const auto zero = from_fields<kDtype>(extra >> 31, 0, 0);
    const auto plain = Element<kDtype>::from_float(normal(hash));
    const uint64_t choice = extra >> 58;
    return choice == 0 ? nan : choice == 1 ? infinity : choice == 2 ? zero : plain;
  }
};

struct Rows {
  uint64_t tensor_key;
  int64_t num_tokens;
  InputView view;
  void* data;
  int num_threads;

  int64_t start(int64_t token, int64_t head) const {
    const int64_t entry = view.batch_tokens > 0 ? token / view.batch_tokens : 0;
    return entry * view.batch_stride + (token - entry * view.batch_tokens) * view.token_stride +
           head * view.head_stride;
  }
};

template <Dtype kDtype, typename Kind>
void fill(const Rows& rows) {
  using Storage = typename Element<kDtype>::Storage;
  // Enough work per thread to pay for starting it.
  const int64_t heads = rows.view.heads, width = rows.view.width;
  const int64_t grain = std::max<int64_t>(1, 32768 / width);
  parallel_for(rows.num_threads, rows.num_tokens * heads, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t token = row / heads;
      const int64_t head = row % heads;
      const uint64_t key = combine(combine(rows.tensor_key, static_cast<uint64_t>(token)),
                                   static_cast<uint64_t>(head));
      Storage* out = static_cast<Storage*>(rows.data) + rows.start(token, head);
      for (int64_t j = 0; j < width; ++j) {
        const uint64_t hash = mix64(key + static_cast<uint64_t>(j + 1) * kCounterStep);
        out[j] = Kind::template element<kDtype>(hash, key);
      }
    }
  });
}

template <Dtype kDtype>
void fill_kind(DataKind kind, const Rows& rows) {
  switch (kind) {
    case DataKind::kNormal:
      return fill<kDtype, Normal>(rows);
    case DataKind::kUniform:
      return fill<kDtype, Uniform>(rows);
    case DataKind::kWide:
      return fill<kDtype, Wide>(rows);
    case DataKind::kSubnormal:
      return fill<kDtype, Subnormal>(rows);
    case DataKind::kCancel:
      return fill<kDtype, Cancel>(rows);
    case DataKind::kLarge:
      return fill<kDtype, Large>(rows);
    case DataKind::kConstant:
      return fill<kDtype, Constant>(rows);
    case DataKind::kSpecial:
      return fill<kDtype, Special>(rows);
  }
}

uint64_t key_of(const RopeCase& c, TensorId tensor) {
  return combine(combine(0, c.seed), static_cast<uint64_t>(tensor));
}

template <Dtype kDtype>
void fill_parameters_as(uint64_t key, float offset, float scale, int64_t count, void* data) {
  auto* out = static_cast<typename Element<kDtype>::Storage*>(data);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t hash = mix64(key + static_cast<uint64_t>(i + 1) * kCounterStep);
    out[i] = Element<kDtype>::from_float(offset + normal(hash) * scale);
  }
}

}  // namespace

void fill_parameters(const RopeCase& c, TensorId tensor, int64_t count, void* data) {
  const bool bias = tensor == TensorId::kBias;
  const float offset = bias || c.norm.weight_offset != 0 ? 0.0f : 1.0f;
  const float scale = bias ? 1.0f : 0.125f;
  const auto fill_as = c.dtype == Dtype::kF32   ? fill_parameters_as<Dtype::kF32>
                       : c.dtype == Dtype::kF16 ? fill_parameters_as<Dtype::kF16>
                                                : fill_parameters_as<Dtype::kBF16>;
  fill_as(key_of(c, tensor), offset, scale, count, data);
}

void fill_inputs(const RopeCase& c, TensorId tensor, int64_t heads, int64_t token_stride,
                 int64_t head_stride, void* data, int num_threads) {
  fill_inputs(c, tensor, InputView{heads, c.head_dim, token_stride, head_stride, 0, 0}, data,
              num_threads);
}

void fill_inputs(const RopeCase& c, TensorId tensor, const InputView& view, void* data,
                 int num_threads) {
  const Rows rows{key_of(c, tensor), c.num_tokens(), view, data, num_threads};
  switch (c.dtype) {
    case Dtype::kF32:
      return fill_kind<Dtype::kF32>(c.data, rows);
    case Dtype::kF16:
      return fill_kind<Dtype::kF16>(c.data, rows);
    case Dtype::kBF16:
      return fill_kind<Dtype::kBF16>(c.data, rows);
  }
}

}  // namespace rope_bench
