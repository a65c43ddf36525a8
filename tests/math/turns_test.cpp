// Turns for variants without a table: times a position, modulo a turn, they are the exact angle.
#include "src/math/turns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/math/angles.h"
#include "tests/math/test_case.h"

namespace rope_bench {
namespace {

TEST(Turns, GiveTheExactAngleAtAnyPosition) {
  const RopeCase c = make_case(128, 1e6);
  const Frequencies f = frequencies_of(c);
  const std::vector<uint64_t> turns = turns_of(c, f);
  ASSERT_EQ(turns.size(), 64u);
  EXPECT_EQ(turns[0], 2935890503282001226u);  // 2^64 / (2 pi), less 0.496
  for (const uint64_t position : {uint64_t{1}, uint64_t{4096}, (uint64_t{1} << 31) - 1}) {
    const Row row = row_of(f, TableAngle::kExact, static_cast<int64_t>(position));
    for (size_t i = 0; i < turns.size(); ++i) {
      double cosine, sine;
      cos_sin_of_phase(position * turns[i], &cosine, &sine);
      EXPECT_NEAR(cosine, row.cosines[i], 4e-10) << position << " " << i;
      EXPECT_NEAR(sine, row.sines[i], 4e-10) << position << " " << i;
    }
  }
}

TEST(Turns, OfTheReversedDirectionAreNegative) {
  RopeCase c = make_case(64, 1e4);
  const Frequencies f = frequencies_of(c);
  const std::vector<uint64_t> forward = turns_of(c, f);
  const std::vector<float> radians = radians_of(c, f);
  EXPECT_EQ(radians[0], 1.0f);
  c.rope.reversed = true;
  for (size_t i = 0; i < forward.size(); ++i) {
    // To the nearest, either way: the two may differ by the unit that a tie leaves open.
    EXPECT_LE(turns_of(c, f)[i] + forward[i] + 1, 2u);
    EXPECT_EQ(radians_of(c, f)[i], -radians[i]);
  }
}

TEST(Turns, NeedFrequenciesThatStay) {
  RopeCase c = make_case(64, 1e4);
  EXPECT_EQ(why_no_turns(c, frequencies_of(c)), "");
  Frequencies f = frequencies_of(c);
  f.segments.push_back({16, 16, f.exact, f.float32});
  c.rope.scaling.type = "longrope";
  EXPECT_EQ(why_no_turns(c, f),
            "scaling longrope has other frequencies from one position on: its angles need a table");
}

}  // namespace
}  // namespace rope_bench
