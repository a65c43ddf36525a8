#include "src/report/timing_details.h"

#include "gtest/gtest.h"
#include "tests/report/sample.h"

namespace rope_bench {
namespace {

TEST(Details, OfARowThatWasTimed) {
  const RunReport report = sample_report();
  EXPECT_EQ(
      timing_text(report.results[0], report.device),
      "sample/tokens=4096: passed\n"
      "  time 22.25 us (empty 0.8750), isolated 26.50 us (empty 4.250), host launch unknown\n"
      "  95 % interval 22.12 to 22.50 us, p5 22.00, p95 23.00, min 21.88, MAD 0.06250; first "
      "tenth 22.19, last tenth 22.31\n"
      "  speed of light 21.25 us, 95.50 % of it reached\n"
      "  limit 21.50 us (stream16x256), limit_ratio 0.9663\n"
      "  31 rounds, stopped by precision; dropped 3: 3 of 34 rounds more than "
      "2 % under the highest clock; SM 1980 MHz, memory 3201 MHz\n"
      "  hbm: the data of a launch comes from device memory; compare GB/s with the measured "
      "peak\n"
      "  mixed: all sets together take 80 % of the last-level cache; quote it as neither; change "
      "`tokens`, or measure cold\n");
}

// An interval takes six rounds.
TEST(Details, OfFewRoundsIsTheirRange) {
  RunReport report = sample_report();
  for (const auto& [rounds, want] : {std::pair{3, "  range of rounds 22.12 to 22.50 us, p5"},
                                     {5, "  range of rounds 22.12 to 22.50 us, p5"},
                                     {6, "  95 % interval 22.12 to 22.50 us, p5"}}) {
    report.results[0].timing->num_rounds = rounds;
    EXPECT_NE(timing_text(report.results[0], report.device).find(want), std::string::npos);
  }
}

TEST(Details, OfOneThatWasNot) {
  const RunReport report = sample_report();
  EXPECT_EQ(timing_text(report.results[3], report.device), "sample/tokens=0: passed\n");
}

}  // namespace
}  // namespace rope_bench
