// The device's judge against the Eigen reference: both must say the same of right and of wrong
// outputs.
#include "src/measure/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/math/inputs.h"
#include "src/math/numeric.h"
#include "src/math/reference.h"

namespace rope_bench {
namespace {

struct Problem {
  RopeCase c;
  std::vector<int64_t> positions;
  std::vector<int32_t> positions32;
  CosSinTable table;
  std::vector<std::byte> q, k, q_out, k_out;

  explicit Problem(Dtype dtype, Pairing pairing, DataKind data = DataKind::kNormal,
                   int64_t tokens = 9) {
    c.dtype = dtype;
    c.rope.pairing = pairing;
    c.data = data;
    c.num_heads = 4;
    c.num_kv_heads = 2;
    c.head_dim = 32;
    c.rope.rotary_dim = 24;
    c.tokens = tokens;
    for (int64_t i = 0; i < c.tokens; ++i) positions.push_back(3 + 7 * i);
    positions32.assign(positions.begin(), positions.end());
    table = build_table(frequencies_of(c), TableAngle::kExact, positions.back() + 1, 1);
    q = filled(TensorId::kQ, 4);
    k = filled(TensorId::kK, 2);
    q_out = rotated(q, 4, 1);
    k_out = rotated(k, 2, 1);
  }

  std::vector<std::byte> filled(TensorId id, int64_t heads) const {
    std::vector<std::byte> data(static_cast<size_t>(c.tokens * heads * c.head_dim) *
                                info(c.dtype).size);
    fill_inputs(c, id, heads, heads * c.head_dim, c.head_dim, data.data(), 1);
    return data;
  }

  // Rotates `times` times in float32 with one rounding each, as a right kernel does.
  std::vector<std::byte> rotated(const std::vector<std::byte>& in, int64_t heads, int times) const {
    std::vector<std::byte> out = in;
    const auto r = static_cast<int32_t>(c.rope.rotary_dim);
    for (int time = 0; time < times; ++time) {
      for (int64_t row = 0; row < c.tokens * heads; ++row) {
        const float* factors =
            &table.values[static_cast<size_t>(positions[static_cast<size_t>(row / heads)] * r)];
        for (int32_t i = 0; i < r / 2; ++i) {
          const int64_t first = row * c.head_dim + pair_first(c.rope.pairing, i);
          const int64_t second = row * c.head_dim + pair_second(c.rope.pairing, i, r);
          const auto x = static_cast<float>(load_as_double(c.dtype, out.data(), first));
          const auto y = static_cast<float>(load_as_double(c.dtype, out.data(), second));
          const float cosine = factors[i], sine = factors[r / 2 + i];
          store_rounded(c.dtype, out.data(), first, x * cosine - y * sine);
          store_rounded(c.dtype, out.data(), second, y * cosine + x * sine);
        }
      }
    }
    return out;
  }

  JudgeArgs judge_args(int repeats = 1) const {
    JudgeArgs a;
    const auto tensor = [&](const std::vector<std::byte>& in, const std::vector<std::byte>& out,
                            int32_t heads) {
      JudgeTensor t;
      t.in = in.data();
      t.out = out.data();
      t.in_token_stride = t.out_token_stride = heads * c.head_dim;
      t.in_head_stride = t.out_head_stride = c.head_dim;
      t.num_heads = heads;
      return t;
    };
    a.q = tensor(q, q_out, 4);
    a.k = tensor(k, k_out, 2);
    a.table = table.values.data();
    a.table_row_stride = c.rope.rotary_dim;
    a.positions = positions32.data();
    a.num_tokens = c.tokens;
    a.head_dim = static_cast<int32_t>(c.head_dim);
    a.rotary_dim = static_cast<int32_t>(c.rope.rotary_dim);
    a.dtype = static_cast<int32_t>(c.dtype);
    a.pairing = static_cast<int32_t>(c.rope.pairing);
    a.repeats = repeats;
    return a;
  }
  int64_t judged(int repeats = 1) const {
    const JudgeArgs a = judge_args(repeats);
    int64_t wrong = 0;
    for (int64_t i = 0; i < judge_units(a); ++i) wrong += judge_unit(a, i) ? 0 : 1;
    return wrong;
  }
  int64_t referenced() const {
    const auto view = [&](const std::vector<std::byte>& data, int64_t heads) {
      return HostTensor{data.data(), heads * c.head_dim, c.head_dim};
    };
    return check_rope(c, true, table, positions,
                      {view(q, 4), view(k, 2), view(q_out, 4), view(k_out, 2)}, 1)
        .num_over;
  }
};

const Dtype kAllDtypes[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
const Pairing kBothPairings[] = {Pairing::kNeox, Pairing::kGptj};
const DataKind kAllData[] = {DataKind::kNormal,    DataKind::kUniform, DataKind::kWide,
                             DataKind::kSubnormal, DataKind::kCancel,  DataKind::kLarge,
                             DataKind::kConstant,  DataKind::kSpecial};

TEST(Judge, RightOutputsPassBoth) {
  for (const Dtype dtype : kAllDtypes) {
    for (const Pairing pairing : kBothPairings) {
      for (const DataKind data : kAllData) {
        const Problem problem(dtype, pairing, data);
        EXPECT_EQ(problem.judged(), 0)
            << info(dtype).name << ' ' << info(pairing).name << ' ' << name(data);
        EXPECT_EQ(problem.referenced(), 0)
            << info(dtype).name << ' ' << info(pairing).name << ' ' << name(data);
      }
    }
  }
}

// Enough elements for roundings that go the other way than an exact trajectory would.
TEST(Judge, RepeatedRotationsPassWithTheirRepeats) {
  for (const Dtype dtype : kAllDtypes) {
    for (const int repeats : {2, 5, 8}) {
      Problem problem(dtype, Pairing::kNeox, DataKind::kNormal, 2000);
      problem.q_out = problem.rotated(problem.q, 4, repeats);
      problem.k_out = problem.rotated(problem.k, 2, repeats);
      EXPECT_EQ(problem.judged(repeats), 0) << info(dtype).name << ' ' << repeats;
      EXPECT_GT(problem.judged(repeats - 1), 0) << info(dtype).name << ' ' << repeats;
    }
  }
}

// One wrong element of any kind is seen by both.
TEST(Judge, OneWrongElementFailsBoth) {
  for (const Dtype dtype : kAllDtypes) {
    for (const Pairing pairing : kBothPairings) {
      const Problem right(dtype, pairing);
      const size_t size = info(dtype).size;
      for (const size_t element :
           {size_t{0}, size_t{12}, size_t{23}, size_t{24}, size_t{31}, right.q.size() / size - 1}) {
        Problem wrong = right;
        wrong.q_out[element * size] ^= std::byte{4};  // 4 ULP; in pass-through dims a bit
        EXPECT_EQ(wrong.judged(), 1)
            << info(dtype).name << ' ' << info(pairing).name << ' ' << element;
        EXPECT_EQ(wrong.referenced(), 1)
            << info(dtype).name << ' ' << info(pairing).name << ' ' << element;
      }
    }
  }
}

TEST(Judge, MistakesOfAWholeKernelFailBoth) {
  for (const Dtype dtype : kAllDtypes) {
    Problem pairing(dtype, Pairing::kNeox);
    pairing.c.rope.pairing = Pairing::kGptj;
    EXPECT_GT(pairing.judged(), 0);
    EXPECT_GT(pairing.referenced(), 0);

    Problem position(dtype, Pairing::kNeox);
    for (int64_t& p : position.positions) p -= 1;
    position.positions32.assign(position.positions.begin(), position.positions.end());
    EXPECT_GT(position.judged(), 0);
    EXPECT_GT(position.referenced(), 0);

    Problem unwritten(dtype, Pairing::kNeox);
    std::fill(unwritten.k_out.begin(), unwritten.k_out.end(), std::byte{0xff});
    EXPECT_GT(unwritten.judged(), 0);
    EXPECT_GT(unwritten.referenced(), 0);
  }
}

}  // namespace
}  // namespace rope_bench
