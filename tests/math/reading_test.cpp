// Parameter sets read out: errors of rows, differences of readings, facts.
#include "src/math/reading.h"

#include "src/case/errors.h"
#include "tests/math/scaling_case.h"

namespace rope_bench {
namespace {

TEST(Reading, RowsHaveTheirErrors) {
  RopeCase c = make_case(128, 1e6);
  EXPECT_LE(read_table(c, {{131071}}).rows.at(0).max_abs, 0x1p-24);
  c.rope.table.dtype = Dtype::kBF16;
  const ReadRow bf16 = read_table(c, {{131071}}).rows.at(0);
  EXPECT_GT(bf16.max_abs, 1e-3);
  EXPECT_LE(bf16.max_abs, 0x1p-8);
  EXPECT_EQ(bf16.cosines[3], round_to(Dtype::kBF16, bf16.cosines[3]));
  c.rope.table.dtype = Dtype::kF32;
  c.rope.table.angle = TableAngle::kFloat32;
  const TableReading float32 = read_table(c, {{0}, {131071}});
  EXPECT_EQ(float32.rows.at(0).max_abs, 0);
  EXPECT_GT(float32.rows.at(1).max_abs, 1e-4);
  EXPECT_LT(float32.rows.at(1).max_abs, 1.2e-2);
  EXPECT_EQ(float32.inv_freq[1], 0.8058422207832336);  // C194
}

// C062, C065: rounding cos and sin to bf16 keeps positions apart; rounding the position would not.
TEST(Reading, C062_C065_Bf16RowsAreDistinct) {
  RopeCase c = make_case(128);
  c.rope.table.dtype = Dtype::kBF16;
  const auto rows = read_table(c, {{256}, {257}, {65536}, {65537}, {65791}, {65792}, {65793}}).rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(rows[i].cosines, rows[j].cosines) << i << " " << j;
  }
}

TEST(Reading, EveryTableOfAMethod) {
  const TableReading reading =
      read_table(scaled_case(16, 100, "dual_chunk", {{"chunk_size", 10.0}}), {{3}, {12}});
  ASSERT_EQ(reading.rows.size(), 10u);
  EXPECT_EQ(reading.rows[0].table, "query");
  EXPECT_EQ(reading.rows[5].at, Coordinates{12});
  EXPECT_EQ(reading.rows[5].row, 2);
}

TEST(Reading, CoordinatesMustBeThoseOfTheAxes) {
  RopeCase c = make_case(16);
  EXPECT_THROW(read_table(c, {{1, 2}}), ConfigError);
  c.rope.axes = {"mrope", {4, 2, 2}};
  EXPECT_THROW(read_table(c, {{1, 2}}), ConfigError);
  EXPECT_EQ(read_table(c, {{1, 2, 3}}).rows.size(), 1u);
}

// What truncation changes for gpt-oss: pair 17, by 76 %.
TEST(Reading, LargestDifference) {
  const Params yarn = {{"factor", 32.0}, {"original_max_position_embeddings", 4096.0}};
  Params untruncated = yarn;
  untruncated["truncate"] = false;
  const auto reading = [](const Params& params) {
    return read_table(scaled_case(64, 150000, "yarn", params), {}).inv_freq;
  };
  const LargestDifference largest = largest_difference(reading(untruncated), reading(yarn));
  EXPECT_EQ(largest.pair, 17u);
  EXPECT_NEAR(largest.relative, 0.762682, 1e-6);
  EXPECT_EQ(largest_difference(reading(yarn), reading(yarn)).relative, 0);
  EXPECT_TRUE(std::isinf(largest_difference({1, 0}, {1, 2}).relative));
}

// theta 10000, 128 dims: 2 pi to 2 pi 10000^(63/64) = 54410.1; 18 frequencies are below
// 2 pi / 4096, as C105 counts them.
TEST(Facts, OfAPlainRotation) {
  RopeCase c = make_case(128);
  c.max_position = 4096;
  const RopeFacts facts = facts_of(c, frequencies_of(c));
  EXPECT_NEAR(*facts.shortest_wavelength, 6.283185307179586, 1e-14);
  EXPECT_NEAR(*facts.longest_wavelength, 54410.14, 0.01);
  EXPECT_EQ(*facts.slowest_repeats, 54411);
  EXPECT_EQ(*facts.trained_length, 4096);
  EXPECT_EQ(*facts.incomplete_pairs, 18);
  EXPECT_EQ(facts.still_pairs, 0);
}

// The known cost of float32 angles: 2.8e-4, 9.4e-3 and 7.6e-2 at most over three thetas.
TEST(Facts, CostOfFloat32Angles) {
  const std::map<int64_t, double> known = {{4096, 2.8e-4}, {131072, 9.4e-3}, {1048576, 7.6e-2}};
  for (const auto& [length, want] : known) {
    double worst = 0;
    for (const double theta : {1e4, 5e5, 1e6}) {
      RopeCase c = make_case(128, theta);
      c.max_position = length;
      worst = std::max(worst, *facts_of(c, frequencies_of(c)).float32_error);
    }
    EXPECT_NEAR(worst, want, 0.02 * want) << length;
  }
}

TEST(Facts, TrainedLengthAndStillPairs) {
  const RopeCase scaled =
      scaled_case(128, 5e5, "llama3", {{"factor", 8.0}}, 131072);  // its original length: 8192
  EXPECT_EQ(*facts_of(scaled, frequencies_of(scaled)).trained_length, 8192);
  EXPECT_GT(*facts_of(scaled, frequencies_of(scaled)).incomplete_pairs, 28);
  RopeCase proportional = scaled_case(512, 1e6, "proportional", {});
  proportional.rope.proportion = 0.25;
  const RopeFacts facts = facts_of(proportional, frequencies_of(proportional));
  EXPECT_EQ(facts.still_pairs, 192);
  EXPECT_NEAR(*facts.longest_wavelength, 188, 1);
  EXPECT_FALSE(facts.trained_length);
  EXPECT_FALSE(facts.incomplete_pairs);
  EXPECT_FALSE(facts.float32_error);
}

}  // namespace
}  // namespace rope_bench
