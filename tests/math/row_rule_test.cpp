// Position axes, direction and query scale: what rows of a table are made of.
#include "src/math/row_rule.h"

#include "src/case/axes.h"
#include "src/case/errors.h"
#include "tests/math/scaling_case.h"

namespace rope_bench {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

RopeCase with_axes(RopeCase c, const std::string& kind, std::vector<int64_t> section,
                   Lists positions = {}) {
  c.rope.axes = {kind, std::move(section)};
  if (positions.empty()) return c;
  c.positions.kind = PositionKind::kExplicit;
  c.positions.list = positions[0];
  c.tokens = static_cast<int64_t>(positions[0].size());
  c.positions.axis_lists = std::move(positions);
  return c;
}

double cosine(const CosSinTable& table, int64_t row, int64_t pair) {
  return table.values.at(static_cast<size_t>(row * table.rotary_dim + pair));
}

TEST(RowRule, C100_InterleavedAndBlocked) {
  const std::vector<int64_t> at = {10, 3, 7};
  const RopeCase c = make_case(128, 5e6);
  const auto cosines = [&](const char* kind) {
    return named_rows(with_axes(c, kind, {24, 20, 20}), TableAngle::kExact, at).at(0).cosines;
  };
  EXPECT_NEAR(cosines("mrope_interleaved")[1], std::cos(2.35748994126), 1e-11);
  EXPECT_NEAR(cosines("mrope")[1], std::cos(7.8582998042), 1e-10);
  for (size_t i = 60; i < 64; ++i) {
    EXPECT_EQ(cosines("mrope_interleaved")[i],
              row_of(frequencies_of(c), TableAngle::kExact, 10).cosines[i]);
  }
}

// Every token reads each axis at its own place, over half of the dims.
TEST(RowRule, C102_RowsOfEveryToken) {
  RopeCase c = make_case(128);
  c.rope.rotary_dim = 64;
  c = with_axes(c, "mrope", {16, 8, 8},
                {{0, 1, 2, 3, 4}, {10, 11, 12, 13, 14}, {20, 22, 24, 26, 28}});
  TableCache cache;
  const auto table = cache.get(c, 2);
  ASSERT_EQ(table->rows, 5);
  ASSERT_EQ(table->rotary_dim, 64);
  EXPECT_NEAR(cosine(*table, 4, 16), std::cos(0.14), 1e-7);
  EXPECT_NEAR(cosine(*table, 4, 24), std::cos(0.028), 1e-7);
  for (int64_t t = 0; t < 5; ++t) {
    EXPECT_NEAR(cosine(*table, t, 0), std::cos(static_cast<double>(t)), 1e-7);
    EXPECT_NEAR(cosine(*table, t, 16), std::cos(static_cast<double>(10 + t) * 0.01), 1e-7);
    EXPECT_NEAR(cosine(*table, t, 24), std::cos(static_cast<double>(20 + 2 * t) * 0.001), 1e-7);
  }
  EXPECT_LE(table_error(*table, kernel_positions_of(c), 2).max_abs, 0x1p-24);
}

TEST(RowRule, TextIsThePlainTable) {
  RopeCase c = make_case(64);
  c.tokens = 7;
  TableCache cache;
  const auto plain = cache.get(c, 1);
  EXPECT_EQ(plain->rule, nullptr);
  for (const auto& [kind, section] :
       std::map<std::string, std::vector<int64_t>>{{"mrope", {16, 8, 8}},
                                                   {"mrope_interleaved", {12, 10, 10}},
                                                   {"ernie", {10, 10, 12}},
                                                   {"xdrope", {8, 8, 8, 8}}}) {
    EXPECT_EQ(cache.get(with_axes(c, kind, section), 1)->values, plain->values) << kind;
  }
}

// Each axis of vision_2d is a rotation of half the dims, from the highest frequency down.
TEST(RowRule, VisionRestartsFrequencies) {
  const RopeCase c = with_axes(make_case(32), "vision_2d", {});
  const Frequencies f = frequencies_of(c), half = frequencies_of(make_case(16));
  ASSERT_EQ(f.exact.size(), 16u);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(f.exact[i], half.exact[i % 8]);
    EXPECT_EQ(f.float32[i], half.float32[i % 8]);
  }
  const NamedRow row = named_rows(c, TableAngle::kExact, {3, 5}).at(0);
  EXPECT_NEAR(row.cosines[0], std::cos(3.0), 1e-15);
  EXPECT_NEAR(row.cosines[8], std::cos(5.0), 1e-15);
}

TEST(RowRule, ReversedNegatesSines) {
  RopeCase c = scaled_case(32, 10000, "yarn", {{"factor", 4.0}}, 2048);
  c.tokens = 9;
  RopeCase reversed = c;
  reversed.rope.reversed = true;
  TableCache cache;
  const auto a = cache.get(c, 1), b = cache.get(reversed, 1);
  ASSERT_NE(a, b);
  for (int64_t row = 0; row < 9; ++row) {
    for (int64_t j = 0; j < 32; ++j) {
      const size_t at = static_cast<size_t>(row * 32 + j);
      EXPECT_EQ(b->values[at], j < 16 ? a->values[at] : -a->values[at]);
    }
  }
  EXPECT_LE(table_error(*b, {0, 5, 8}, 1).max_abs, table_error(*b, {0, 5, 8}, 1).tolerance);
  EXPECT_EQ(named_rows(reversed, TableAngle::kExact, 5)[0].sines[0],
            -named_rows(c, TableAngle::kExact, 5)[0].sines[0]);
}

// longrope's list is chosen per axis position where it is chosen per position.
TEST(RowRule, SegmentsAreFoundOnEachAxis) {
  const std::vector<double> ones(16, 1.0), twos(16, 2.0);
  RopeCase c = scaled_case(32, 10000, "longrope",
                           {{"short_factor", ones},
                            {"long_factor", twos},
                            {"original_max_position_embeddings", 100.0},
                            {"list_rule", std::string("per_position")}},
                           200);
  c = with_axes(c, "mrope", {8, 4, 4});
  const NamedRow row = named_rows(c, TableAngle::kExact, {50, 150, 99}).at(0);
  const double base = std::pow(10000.0, -1.0 / 16);
  EXPECT_NEAR(row.cosines[1], std::cos(50 * base), 1e-13);
  EXPECT_NEAR(row.cosines[8], std::cos(150 * 0.01 / 2), 1e-13);
  EXPECT_NEAR(row.cosines[12], std::cos(99 * 0.001), 1e-13);
}

TEST(RowRule, Float32StaysWithinItsModel) {
  RopeCase c = scaled_case(128, 1e6, "yarn", {{"factor", 4.0}}, 32768);
  c.rope.table.angle = TableAngle::kFloat32;
  c = with_axes(c, "mrope", {16, 24, 24}, {{0, 100, 30000}, {5, 131071, 7}, {9, 1, 99999}});
  TableCache cache;
  const auto table = cache.get(c, 1);
  const TableError error = table_error(*table, kernel_positions_of(c), 1);
  EXPECT_GT(error.max_abs, 1e-5);
  EXPECT_LE(error.max_abs, error.tolerance);
}

TEST(RowRule, TablesOfTheirOwnFollowAxesToo) {
  RopeCase fope =
      with_axes(scaled_case(16, 100, "fope", {{"num_inv_freq", 8.0}}), "mrope", {4, 2, 2});
  EXPECT_NEAR(named_rows(fope, TableAngle::kExact, {1, 2, 3}).at(0).cosines[4],
              std::cos(2 * std::pow(100.0, -0.5)), 1e-14);
  const RopeCase chunked =
      with_axes(scaled_case(16, 100, "dual_chunk", {{"chunk_size", 10.0}}), "mrope", {4, 2, 2});
  const NamedRow query = named_rows(chunked, TableAngle::kExact, {1, 12, 3}).at(0);
  EXPECT_NEAR(query.cosines[4], std::cos(2 * std::pow(100.0, -0.5)), 1e-14);
  EXPECT_THROW(
      named_rows(with_axes(scaled_case(16, 100, "fope", {{"num_inv_freq", 4.0}}), "vision_2d", {}),
                 TableAngle::kExact, 1),
      ConfigError);
}

TEST(RowRule, PositionsBeyondTheRange) {
  const RopeCase c = with_axes(make_case(8), "vision_2d", {}, {{0}, {int64_t{1} << 31}});
  EXPECT_THROW(row_rule_of(c), ConfigError);
  EXPECT_THROW(named_rows(c, TableAngle::kExact, {-1, 0}), ConfigError);
}

// 1 + 0.1 ln(1 + floor(position / 8192)), as Llama 4 sets it.
TEST(RowRule, QueryFactor) {
  RopeCase c = make_case(8);
  EXPECT_EQ(query_factor(c, 100000), 1);
  c.rope.query_scale = QueryScale{0.1, 8192};
  EXPECT_EQ(query_factor(c, 8191), 1);
  EXPECT_NEAR(query_factor(c, 8192), 1.0693147180559945, 1e-15);
  EXPECT_NEAR(query_factor(c, 131071), 1.2772588722239781, 1e-15);
}

}  // namespace
}  // namespace rope_bench
