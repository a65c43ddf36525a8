#include "src/math/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/case/errors.h"
#include "src/math/numeric.h"

namespace rope_bench::judging {
namespace {

class Builder {
 public:
  Builder(const RopeCase& c, const RopeKernelArgs& launch) : c_(c), launch_(launch) {
    if (has_bias(c) != (launch.bias != nullptr))
      throw DeviceError(fmt::format("{} bias in the launch of a case with{} qkv_bias",
                                    has_bias(c) ? "no" : "a", has_bias(c) ? "" : "out"));
  }

  Operand rotated(const char* name, const RopeTensor& tensor, int64_t heads,
                  const TensorLayout& layout, const void* weights) {
    const int64_t r = c_.rope.rotary_dim;
    Operand o{name, tensor, heads, 0, 0, 0, true, 0, 1, {}, {}};
    o.width = std::max(c_.head_dim, layout.rotary_offset + r);
    const bool all = has_bias(c_) || has_norm(c_);  // dims are results
    o.begin = all ? 0 : layout.rotary_offset;
    o.count = all ? o.width : r;
    o.rotary_offset = layout.rotary_offset - o.begin;
    o.bias = bias_of(o);
    if (!has_norm(c_)) return o;
    if (c_.norm.span_row) o.heads_per_span = heads;
    o.factors.assign(static_cast<size_t>(heads * o.count), 1.0);
    if (weights == nullptr) return o;
    const int64_t period = c_.norm.span_row ? heads * c_.head_dim : c_.head_dim;
    for (int64_t i = 0; i < heads * o.count; ++i)
      o.factors[i] = load_as_double(c_.dtype, weights, i % period) + c_.norm.weight_offset;
    return o;
  }

  Operand value(const RopeTensor& tensor) {
    Operand o{"v", tensor, tensor.num_heads, c_.head_dim, 0, 0, false, 0, 1, {}, {}};
    if (!has_bias(c_)) return o;
    o.count = o.width;
    o.bias = bias_of(o);
    return o;
  }

 private:
  // The next heads of the bias; dims behind head_dim have none.
  std::vector<double> bias_of(const Operand& o) {
    std::vector<double> bias;
    if (launch_.bias == nullptr) return bias;
    bias.assign(static_cast<size_t>(o.heads * o.count), 0.0);
    for (int64_t h = 0; h < o.heads; ++h, ++bias_heads_) {
      for (int64_t j = 0; j < c_.head_dim; ++j)
        bias[h * o.count + j] =
            load_as_double(c_.dtype, launch_.bias, bias_heads_ * c_.head_dim + j);
    }
    return bias;
  }

  const RopeCase& c_;
  const RopeKernelArgs& launch_;
  int64_t bias_heads_ = 0;
};

}  // namespace

OpRules rules_of(const RopeCase& c, int32_t precision) {
  return {c.rope.pairing,
          c.rope.rotary_dim,
          c.norm.after_rotation,
          c.norm.eps,
          precision == ROPE_PRECISION_UNFUSED,
          c.norm.round_between};
}

std::vector<Operand> operands_of(const RopeCase& c, const RopeKernelArgs& launch) {
  Builder builder(c, launch);
  std::vector<Operand> operands;
  operands.push_back(builder.rotated("q", launch.q, c.num_heads, c.layout.q, launch.q_weight));
  operands.push_back(builder.rotated("k", launch.k, c.num_kv_heads, c.layout.k, launch.k_weight));
  if (launch.v.num_heads > 0) operands.push_back(builder.value(launch.v));
  return operands;
}

}  // namespace rope_bench::judging
