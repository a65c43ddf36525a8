// Every entry of apply.json through the double reference, with the entry's own frequencies and
// float32 angles: within 4e-6 max |x|.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/math/golden.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

json entry_named(const std::string& name) {
  for (const json& entry : read_golden("apply.json")) {
    if (entry.at("name") == name) return entry;
  }
  ADD_FAILURE() << name << " is not in apply.json";
  return {};
}

Frequencies frequencies_in(const json& entry) {
  Frequencies f;
  f.float32 = entry.at("inv_freq").get<std::vector<float>>();
  f.exact.assign(f.float32.begin(), f.float32.end());
  f.attention_factor = entry.value("attention_scaling", 1.0);
  return f;
}

double max_abs(const Values& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

// Tokens and heads of a flat list, in either order.
struct Shape {
  int64_t tokens, heads, head_dim;
  bool heads_first;
  size_t at(int64_t token, int64_t head) const {
    return static_cast<size_t>((heads_first ? head * tokens + token : token * heads + head) *
                               head_dim);
  }
};

void expect_rotated(const Shape& shape, Pairing pairing, const std::vector<Row>& rows,
                    const Values& x, const Values& want) {
  ASSERT_EQ(x.size(), want.size());
  ASSERT_EQ(x.size(), static_cast<size_t>(shape.tokens * shape.heads * shape.head_dim));
  const double tolerance = 4e-6 * max_abs(x);
  Values y(static_cast<size_t>(shape.head_dim));
  for (int64_t t = 0; t < shape.tokens; ++t) {
    const int64_t rotary_dim = 2 * static_cast<int64_t>(rows[t].cosines.size());
    for (int64_t h = 0; h < shape.heads; ++h) {
      const size_t base = shape.at(t, h);
      rotate_reference(pairing, shape.head_dim, rotary_dim, 0, rows[t].cosines.data(),
                       rows[t].sines.data(), x.data() + base, y.data());
      for (int64_t j = 0; j < shape.head_dim; ++j) {
        EXPECT_NEAR(y[j], want[base + j], j < rotary_dim ? tolerance : 0)
            << "token " << t << " head " << h << " dim " << j;
      }
    }
  }
}

std::vector<Row> rows_of(const Frequencies& f, const std::vector<int64_t>& positions) {
  std::vector<Row> rows;
  for (const int64_t p : positions) rows.push_back(row_of(f, TableAngle::kFloat32, p));
  return rows;
}

void expect_entry(const std::string& name, Pairing pairing, int64_t kv_heads, bool heads_first) {
  const json entry = entry_named(name);
  const auto positions = entry.at("positions").get<std::vector<int64_t>>();
  const auto rows = rows_of(frequencies_in(entry), positions);
  const int64_t tokens = static_cast<int64_t>(positions.size());
  expect_rotated({tokens, 4, 32, heads_first}, pairing, rows, entry.at("q"), entry.at("q_out"));
  expect_rotated({tokens, kv_heads, 32, heads_first}, pairing, rows, entry.at("k"),
                 entry.at("k_out"));
}

TEST(GoldenApply, LlamaNeox) { expect_entry("apply-llama-neox", Pairing::kNeox, 2, true); }
TEST(GoldenApply, GlmPartialInterleaved) {
  expect_entry("apply-glm-partial-interleaved", Pairing::kGptj, 2, true);
}
TEST(GoldenApply, GptNeoxPartial) {
  expect_entry("apply-gptneox-partial-neox", Pairing::kNeox, 2, true);
}
TEST(GoldenApply, Phi3Partial) { expect_entry("apply-phi3-partial-neox", Pairing::kNeox, 2, true); }
TEST(GoldenApply, GptjInterleaved) {
  expect_entry("apply-gptj-interleaved-rotdim16", Pairing::kGptj, 4, false);
}

// Three position rows; section [6, 5, 5] interleaved is THWTHWTHWTHWTHWT.
TEST(GoldenApply, QwenInterleavedAxes) {
  const json entry = entry_named("apply-qwen3vl-mrope-interleaved");
  const Frequencies f = frequencies_in(entry);
  std::vector<Row> rows;
  for (int64_t t = 0; t < 5; ++t) {
    Row row{Values(16), Values(16)};
    for (size_t i = 0; i < 16; ++i) {
      const size_t axis = i < 15 ? i % 3 : 0;
      const int64_t position = entry.at("positions")[axis][0][t].get<int64_t>();
      const Row one = row_of(f, TableAngle::kFloat32, position);
      row.cosines[i] = one.cosines[i];
      row.sines[i] = one.sines[i];
    }
    rows.push_back(row);
  }
  expect_rotated({5, 4, 32, true}, Pairing::kNeox, rows, entry.at("q"), entry.at("q_out"));
  expect_rotated({5, 2, 32, true}, Pairing::kNeox, rows, entry.at("k"), entry.at("k_out"));
}

// The same entries through check_rope, which sees them as the output of a float32 kernel. Its cos
// and sin differ from ours by a float32 ULP here and there, so the distance is judged, not the
// verdict.
TEST(GoldenApply, CheckMeasuresTheSameDistance) {
  for (const auto& [name, pairing] : {std::pair{"apply-llama-neox", Pairing::kNeox},
                                      std::pair{"apply-glm-partial-interleaved", Pairing::kGptj},
                                      std::pair{"apply-phi3-partial-neox", Pairing::kNeox}}) {
    const json entry = entry_named(name);
    const Frequencies f = frequencies_in(entry);
    RopeCase c = make_case(32, 10000, Dtype::kF32, pairing);
    c.rope.rotary_dim = 2 * static_cast<int64_t>(f.exact.size());
    c.num_heads = 4;
    c.num_kv_heads = 2;
    c.tokens = 5;
    const auto q = entry.at("q").get<std::vector<float>>();
    const auto k = entry.at("k").get<std::vector<float>>();
    const auto q_out = entry.at("q_out").get<std::vector<float>>();
    const auto k_out = entry.at("k_out").get<std::vector<float>>();
    const RopeTensors tensors{{q.data(), 32, 160},
                              {k.data(), 32, 160},  // [head, token, dim]
                              {q_out.data(), 32, 160},
                              {k_out.data(), 32, 160}};
    const CosSinTable table = build_table(f, TableAngle::kFloat32, 4096, 2);
    const Accuracy a = check_rope(c, true, table, entry.at("positions"), tensors, 1);
    EXPECT_LE(a.kernel_max_abs, 4e-6 * max_abs(entry.at("q")));
    EXPECT_LE(a.max_ulp, 8);
  }
}

// RMSNorm over `span` values by the reference, weights as listed.
Values normalised(Values x, const Values& weight, double offset, size_t span) {
  for (size_t begin = 0; begin < x.size(); begin += span) {
    Values factors(span);
    for (size_t i = 0; i < span; ++i) factors[i] = weight[i % weight.size()] + offset;
    const auto n = static_cast<int64_t>(span);
    normalise_reference(n, mean_square_reference(n, 1e-6, &x[begin]), factors.data(), &x[begin]);
  }
  return x;
}

std::vector<float> floats(const json& list) { return list.get<std::vector<float>>(); }

// Weights for the other span too: those of a head repeat.
std::vector<float> weights_of(const json& list, size_t count) {
  std::vector<float> weights = floats(list);
  for (size_t i = weights.size(); i < count; ++i) weights.push_back(weights[i - 32]);
  return weights;
}

// The whole op as check_launch sees it, taking the entry for the output of a float32 kernel.
Accuracy launched(const json& entry, double offset, bool full_row) {
  RopeCase c = make_case(32, 1e6);
  c.op = Op::kNormSplitRope;
  c.norm.given = true;
  c.norm.weight_offset = static_cast<int>(offset);
  c.norm.span_row = full_row;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.tokens = 5;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.list = entry.at("positions").get<std::vector<int64_t>>();
  const std::vector<float> qkv = floats(entry.at("qkv")), q_out = floats(entry.at("q_out")),
                           k_out = floats(entry.at("k_out")),
                           q_weight = weights_of(entry.at("q_weight"), 4 * 32),
                           k_weight = weights_of(entry.at("k_weight"), 2 * 32);
  RopeKernelArgs launch{};
  launch.q = operand({qkv.data(), 256, 32}, {q_out.data(), 128, 32}, 4);
  launch.k = operand({qkv.data() + 128, 256, 32}, {k_out.data(), 64, 32}, 2);
  launch.v = operand({qkv.data() + 192, 256, 32}, {qkv.data() + 192, 256, 32}, 2);
  launch.q_weight = q_weight.data();
  launch.k_weight = k_weight.data();
  RopeVariant variant{};
  variant.uses_table = 1;
  const CosSinTable table = build_table(frequencies_in(entry), TableAngle::kFloat32, 8192, 2);
  return check_launch(c, variant, table, launch, 1);
}

void expect_fused(const std::string& name, double offset, bool full_row) {
  const json entry = entry_named(name);
  const Values qkv = entry.at("qkv");
  const auto rows = rows_of(frequencies_in(entry), entry.at("positions"));
  Values q, k;  // tokens of (4 + 2 + 2) heads of 32
  for (int64_t t = 0; t < 5; ++t) {
    q.insert(q.end(), qkv.begin() + t * 256, qkv.begin() + t * 256 + 128);
    k.insert(k.end(), qkv.begin() + t * 256 + 128, qkv.begin() + t * 256 + 192);
  }
  q = normalised(q, entry.at("q_weight"), offset, full_row ? 128 : 32);
  k = normalised(k, entry.at("k_weight"), offset, full_row ? 64 : 32);
  expect_rotated({5, 4, 32, false}, Pairing::kNeox, rows, q, entry.at("q_out"));
  expect_rotated({5, 2, 32, false}, Pairing::kNeox, rows, k, entry.at("k_out"));
  // Its cos and sin are a float32 ULP off ours here and there: distances, not the verdict.
  const Accuracy a = launched(entry, offset, full_row);
  EXPECT_LE(a.kernel_max_abs, 1e-6);
  EXPECT_LE(a.max_ulp, a.tolerance_ulp);
  EXPECT_GT(launched(entry, offset, !full_row).kernel_max_abs, 0.1);
  EXPECT_GT(launched(entry, 1 - offset, full_row).kernel_max_abs, 0.1);
}

TEST(GoldenApply, Qwen3NormSplitRope) { expect_fused("fused-qwen3-rmsnorm-split-rope", 0, false); }
TEST(GoldenApply, Gemma3NormSplitRope) {
  expect_fused("fused-gemma3-rmsnorm-1plusw-split-rope", 1, false);
}
TEST(GoldenApply, Olmo2NormSplitRope) {
  expect_fused("fused-olmo2-fullrow-rmsnorm-split-rope", 0, true);
}

// grad = m R(-angle) grad_out: the same rotation with the sines negated.
TEST(GoldenApply, BackwardYarn) {
  const json entry = entry_named("backward-yarn-neox");
  auto rows = rows_of(frequencies_in(entry), entry.at("positions"));
  for (Row& row : rows) {
    for (double& s : row.sines) s = -s;
  }
  const Values q = entry.at("grad_q_out"), k = entry.at("grad_k_out");
  expect_rotated({5, 4, 32, true}, Pairing::kNeox, rows, q, entry.at("grad_q"));
  expect_rotated({5, 2, 32, true}, Pairing::kNeox, rows, k, entry.at("grad_k"));

  RopeCase c = make_case(32);
  c.op = Op::kRopeBackward;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.tokens = 5;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.list = entry.at("positions").get<std::vector<int64_t>>();
  const std::vector<float> q_in = floats(entry.at("grad_q_out")),
                           q_out = floats(entry.at("grad_q")),
                           k_in = floats(entry.at("grad_k_out")),
                           k_out = floats(entry.at("grad_k"));
  RopeKernelArgs launch{};  // [head, token, dim]
  launch.q = operand({q_in.data(), 32, 160}, {q_out.data(), 32, 160}, 4);
  launch.k = operand({k_in.data(), 32, 160}, {k_out.data(), 32, 160}, 2);
  RopeVariant variant{};
  variant.uses_table = 1;
  const CosSinTable table = build_table(frequencies_in(entry), TableAngle::kFloat32, 16384, 2);
  EXPECT_LE(check_launch(c, variant, table, launch, 1).kernel_max_abs, 1e-6);
  c.op = Op::kRope;
  EXPECT_GT(check_launch(c, variant, table, launch, 1).kernel_max_abs, 0.1);
}

}  // namespace
}  // namespace rope_bench
