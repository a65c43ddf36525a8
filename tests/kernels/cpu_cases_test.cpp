// Numbers worked out by hand: norms, biases and gradients of few elements, on every CPU variant.
#include <cmath>
#include <cstring>

#include "tests/kernels/cpu_test_kernels.h"
#include "tests/kernels/problem_numbers.h"

namespace rope_bench::testing {
namespace {

// A launch from packed rows [T, (Hq + 2 Hkv) d] to separate q, k and v; theta 10000.
struct Small {
  Dtype dtype = Dtype::kF32;
  int64_t tokens = 1;
  int heads = 1, kv_heads = 1, head_dim = 4;
  std::vector<float> rows, bias, q_weight, k_weight;
  int norm = ROPE_NORM_HEAD;
  bool round_between = false;
  float eps = 1e-6f, weight_offset = 0, attention_factor = 1;
  int64_t position = 0;

  struct Output {
    std::vector<double> q, k, v;
  };
  Output run(const RopeVariant& variant) const {
    const auto size = static_cast<int64_t>(info(dtype).size);
    const auto stored = [&](const std::vector<float>& values) {
      std::vector<std::byte> bytes(values.size() * static_cast<size_t>(size));
      for (size_t i = 0; i < values.size(); ++i)
        write_value(dtype, bytes.data() + i * static_cast<size_t>(size), values[i]);
      return bytes;
    };
    const int64_t row = head_dim * (heads + 2 * kv_heads);
    const std::vector<std::byte> in = stored(rows), b = stored(bias);
    const std::vector<std::byte> wq = stored(q_weight), wk = stored(k_weight);
    EXPECT_EQ(static_cast<int64_t>(rows.size()), tokens * row);
    std::vector<std::byte> outs[3];
    RopeKernelArgs a{};
    a.struct_size = sizeof(a);
    a.op = variant.op;
    a.dtype = static_cast<int32_t>(dtype);
    a.pairing = ROPE_PAIRING_NEOX;
    a.num_tokens = tokens;
    a.head_dim = a.rotary_dim = head_dim;
    const bool has_value = a.op != ROPE_OP_ROPE && a.op != ROPE_OP_ROPE_BACKWARD;
    int64_t first = 0;
    RopeTensor* const tensors[] = {&a.q, &a.k, &a.v};
    for (int i = 0; i < (has_value ? 3 : 2); ++i) {
      RopeTensor& x = *tensors[i];
      x.num_heads = i == 0 ? heads : kv_heads;
      outs[i].resize(static_cast<size_t>(tokens * x.num_heads * head_dim * size));
      x.in = in.data() + first * head_dim * size;
      x.out = outs[i].data();
      x.in_token_stride = row;
      x.in_head_stride = x.out_head_stride = head_dim;
      x.out_token_stride = int64_t{x.num_heads} * head_dim;
      first += x.num_heads;
    }
    // Rows up to the one in use, which is the last.
    std::vector<float> table(static_cast<size_t>(position * head_dim), 0.0f);
    std::vector<uint64_t> turns;
    for (const bool sine : {false, true}) {
      for (int i = 0; i < head_dim / 2; ++i) {
        const long double angle = frequency(i, head_dim) * static_cast<long double>(position);
        const long double value = sine ? std::sin(angle) : std::cos(angle);
        table.push_back(static_cast<float>(value * static_cast<long double>(attention_factor)));
        if (!sine) turns.push_back(turns_of(frequency(i, head_dim)));
      }
    }
    if (variant.uses_table != 0) a.table = table.data();
    a.table_rows = position + 1;
    a.table_row_stride = head_dim;
    const std::vector<int64_t> positions(static_cast<size_t>(tokens), position);
    a.position_bits = 64;
    a.positions = positions.data();
    a.turns = turns.data();
    a.attention_factor = attention_factor;
    a.bias = bias.empty() ? nullptr : b.data();
    a.norm = variant.op == ROPE_OP_NORM_SPLIT_ROPE ? norm : ROPE_NORM_NONE;
    a.norm_eps = eps;
    a.round_between = round_between ? 1 : 0;
    a.weight_offset = weight_offset;
    a.q_weight = q_weight.empty() ? nullptr : wq.data();
    a.k_weight = k_weight.empty() ? nullptr : wk.data();
    a.num_threads = 1;
    char reason[256] = "";
    EXPECT_EQ(variant.why_not(&a, reason, sizeof(reason)), 0) << reason;
    EXPECT_EQ(variant.launch(&a), 0);
    Output output;
    std::vector<double>* const to[] = {&output.q, &output.k, &output.v};
    for (int i = 0; i < 3; ++i) {
      for (size_t j = 0; j < outs[i].size(); j += static_cast<size_t>(size))
        to[i]->push_back(widen(dtype, outs[i].data() + j));
    }
    return output;
  }
};

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double relative) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], relative * std::fabs(want[i])) << "element " << i;
}

std::vector<float> repeated(int64_t count, float value) {
  return std::vector<float>(static_cast<size_t>(count), value);
}

using CpuNorm = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuNorm,
                         ::testing::ValuesIn(only_ops(all_cpu_variants(),
                                                      {ROPE_OP_NORM_SPLIT_ROPE})),
                         kernel_label);
using CpuBias = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuBias,
                         ::testing::ValuesIn(only_ops(
                             all_cpu_variants(), {ROPE_OP_SPLIT_ROPE, ROPE_OP_VARLEN_SPLIT_ROPE})),
                         kernel_label);
using CpuBackward = CpuKernelTest;
INSTANTIATE_TEST_SUITE_P(Kernels, CpuBackward,
                         ::testing::ValuesIn(only_ops(all_cpu_variants(),
                                                      {ROPE_OP_ROPE_BACKWARD,
                                                       ROPE_OP_SPLIT_ROPE_BACKWARD})),
                         kernel_label);

// C073: one rounding at the end, or one more between norm and rotation: nothing else.
TEST_P(CpuNorm, WhereItRounds) {
  Small s;
  s.dtype = Dtype::kBF16;
  s.position = 1;
  s.rows = {2.75, 5.375, -4.25, -3.375, 2.75, 5.375, -4.25, -3.375, 0, 0, 0, 0};
  const std::vector<double> once = {1.25, 1.3359375, 0.004364013671875, -0.81640625};
  const std::vector<double> twice = {1.2421875, 1.328125, 0.003021240234375, -0.8203125};
  const RopeVariant& variant = GetParam().variant;
  EXPECT_EQ(s.run(variant).q, variant.precision == ROPE_PRECISION_UNFUSED ? twice : once);
  s.round_between = true;
  EXPECT_EQ(s.run(variant).q, twice);
  EXPECT_EQ(s.run(variant).k, twice);
}

// C109: 1 + w is formed in float32, not in bf16, and the 1 is there.
TEST_P(CpuNorm, WeightOffsetIsAddedInFloat32) {
  Small s;
  s.weight_offset = 1;
  s.rows = repeated(12, 1);
  s.q_weight = s.k_weight = repeated(4, 0.050048828125f);
  expect_near(s.run(GetParam().variant).q, std::vector<double>(4, 1.0500483031), 2e-7);
  s.dtype = Dtype::kBF16;
  s.rows = {5, 3, 3, 1, 5, 3, 3, 1, 5, 3, 3, 1};
  const std::vector<double> right = {1.5859375, 0.94921875, 0.94921875, 0.31640625};
  EXPECT_EQ(s.run(GetParam().variant).q, right);
  EXPECT_EQ(s.run(GetParam().variant).k, right);
}

// C111: over the whole row or over a head.
TEST_P(CpuNorm, SpanOfTheMean) {
  Small s;
  s.heads = 2;
  s.head_dim = 2;
  s.eps = 1e-12f;
  s.rows = {3, 4, 1, 0, 1, 1, 1, 1};
  expect_near(s.run(GetParam().variant).q, {0.8485281374, 1.13137085, 1.414213562, 0.0}, 2e-7);
  s.norm = ROPE_NORM_ROW;
  expect_near(s.run(GetParam().variant).q, {1.176696811, 1.568929081, 0.3922322703, 0.0}, 2e-7);
}

// C106, C113: squares or their sum beyond the range of the dtype, or of float32.
TEST_P(CpuNorm, SumsOfSquaresBeyondTheRange) {
  const auto expect_ones = [&](Dtype dtype, int head_dim, float x) {
    for (const int norm : {ROPE_NORM_HEAD, ROPE_NORM_ROW}) {
      Small s;
      s.dtype = dtype;
      s.head_dim = head_dim;
      s.heads = 2;
      s.norm = norm;
      s.rows = repeated(4 * head_dim, x);
      EXPECT_EQ(s.run(GetParam().variant).q, std::vector<double>(2 * head_dim, 1.0)) << x;
    }
  };
  for (const float x : {300.0f, 7700.0f, 60000.0f, 65504.0f}) expect_ones(Dtype::kF16, 64, x);
  for (const float x : {1e18f, 2e18f, 1e25f, 3.3e38f}) expect_ones(Dtype::kBF16, 128, x);
}

// C190: which epsilon. C108: a row of zeros stays one; an epsilon that float32 has no normal number
// for is refused.
TEST_P(CpuNorm, Epsilon) {
  Small s;
  s.rows = {0.001f, 0.002f, -0.001f, 0, 0, 0, 0, 0, 1, 2, 3, 4};
  const Small::Output out = s.run(GetParam().variant);
  expect_near(out.q, {0.632455532, 1.264911064, -0.632455532, 0}, 3e-7);
  EXPECT_EQ(out.k, std::vector<double>(4, 0.0));
  s.eps = 1.2e-38f;
  EXPECT_EQ(s.run(GetParam().variant).k, std::vector<double>(4, 0.0));
  ProblemSpec spec;
  spec.op = ROPE_OP_NORM_SPLIT_ROPE;
  spec.norm = ROPE_NORM_HEAD;
  for (const float eps : {0.0f, -1e-6f, NAN, 1e-45f, 1e-38f}) {
    spec.norm_eps = eps;
    Problem problem(spec);
    const RopeKernelArgs args = args_of(problem);
    EXPECT_NE(GetParam().variant.why_not(&args, nullptr, 0), 0) << eps;
    EXPECT_NE(GetParam().variant.launch(&args), 0) << eps;
  }
}

// C116: q by its weights, k by its own, v by none.
TEST_P(CpuNorm, WeightsOfQAndOfK) {
  Small s;
  s.rows = {1, -1, 1, 1, 2, 2, -2, 2, 0.3f, -7, 1e-3f, 5};
  s.q_weight = repeated(4, 2);
  s.k_weight = repeated(4, 3);
  s.eps = 1e-12f;
  const Small::Output out = s.run(GetParam().variant);
  expect_near(out.q, {2, -2, 2, 2}, 2e-7);
  expect_near(out.k, {3, 3, -3, 3}, 2e-7);
  const std::vector<float> v(out.v.begin(), out.v.end());
  EXPECT_EQ(v, std::vector<float>(s.rows.begin() + 8, s.rows.end()));
}

// C041: every element and its bias, by what tells the elements apart.
TEST_P(CpuBias, IsAddedInPlace) {
  Small s;
  s.tokens = 4;  // b, t = 0, 0; 0, 1; 1, 0; 1, 1
  s.heads = 2;
  s.bias = repeated(16, 0.5f);
  for (int64_t token = 0; token < 4; ++token) {
    for (int h = 0; h < 4; ++h) {
      for (int d = 0; d < 4; ++d) {
        s.rows.push_back(static_cast<float>(1000 * (token / 2) + 100 * (token % 2) + 10 * h + d));
      }
    }
  }
  const Small::Output out = s.run(GetParam().variant);
  for (int64_t token = 0; token < 4; ++token) {
    for (int64_t h = 0; h < 4; ++h) {
      const std::vector<double>& x = h < 2 ? out.q : h == 2 ? out.k : out.v;
      for (int64_t d = 0; d < 4; ++d) {
        const double got = x.at(static_cast<size_t>(h < 2 ? token * 8 + h * 4 + d : token * 4 + d));
        EXPECT_EQ(got, s.rows[static_cast<size_t>(token * 16 + h * 4 + d)] + 0.5);
      }
    }
  }
  EXPECT_EQ(out.v.back(), 1133.5);
}

// C121: the gradient is multiplied by the attention factor, as the forward rotation is, and turns
// the other way.
TEST_P(CpuBackward, MultipliesByTheAttentionFactor) {
  Small s;
  s.head_dim = 2;
  s.position = 1;
  s.attention_factor = 1.3465735902799727f;
  s.rows = {1, 0, 0, 1, 1, 1};
  const Small::Output out = s.run(GetParam().variant);
  expect_near(out.q, {0.72755681584941, -1.1331026051292}, 3e-7);
  expect_near(out.k, {1.1331026051292, 0.72755681584941}, 3e-7);
}

// C118: back after forth is x times the square of the attention factor.
TEST_P(CpuBackward, UndoesTheRotation) {
  const bool split = GetParam().variant.op == ROPE_OP_SPLIT_ROPE_BACKWARD;
  for (const CpuKernel& forward : all_cpu_variants()) {
    const bool belongs = forward.isa == GetParam().isa &&
                         forward.variant.op == (split ? ROPE_OP_SPLIT_ROPE : ROPE_OP_ROPE) &&
                         std::strcmp(forward.variant.name, GetParam().variant.name) == 0;
    if (!belongs) continue;
    Small s;
    s.head_dim = 8;
    s.position = 77;
    s.attention_factor = 1.25f;
    for (int i = 0; i < 24; ++i) s.rows.push_back(std::sin(static_cast<float>(i) + 1));
    const std::vector<float> x = s.rows;
    const Small::Output there = s.run(forward.variant);
    std::copy(there.q.begin(), there.q.end(), s.rows.begin());
    std::copy(there.k.begin(), there.k.end(), s.rows.begin() + 8);
    const Small::Output back = s.run(GetParam().variant);
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(back.q[i], x[i] * 1.5625, 4e-7);
      EXPECT_NEAR(back.k[i], x[8 + i] * 1.5625, 4e-7);
    }
    return;
  }
  ADD_FAILURE() << "no forward variant " << GetParam().variant.name;
}

}  // namespace
}  // namespace rope_bench::testing
