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

// RMSNorm over `span` values, weights as listed.
Values normalised(const Values& x, const Values& weight, double offset, size_t span) {
  Values y(x.size());
  for (size_t begin = 0; begin < x.size(); begin += span) {
    double sum = 0;
    for (size_t i = begin; i < begin + span; ++i) sum += x[i] * x[i];
    const double scale = 1 / std::sqrt(sum / static_cast<double>(span) + 1e-6);
    for (size_t i = begin; i < begin + span; ++i) {
      y[i] = x[i] * scale * (weight[i % weight.size()] + offset);
    }
  }
  return y;
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
}

}  // namespace
}  // namespace rope_bench
