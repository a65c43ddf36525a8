#include "src/measure/labels.h"

#include <gtest/gtest.h>

namespace rope_bench {
namespace {

using Labels = std::vector<std::string>;

LabelInput cold_row() {
  LabelInput input;
  input.device.l2_bytes = int64_t{60} << 20;
  input.device.measured_peak_gb_s = 4300;
  input.bytes.read = input.bytes.write = 41'943'040;
  input.timing.median_us = 22;
  input.timing.limit_us = 21;
  input.timing.limit_ratio = 0.95;
  input.timing.limit_ratio_ci_low = 0.949;
  input.timing.limit_ratio_ci_high = 0.951;
  input.timing.bandwidth_gb_s = 3813;
  input.num_sets = 12;
  return input;
}

TEST(Labels, ColdRowsLiveInMemory) {
  EXPECT_EQ(labels_of(cold_row()), Labels({"hbm"}));
  LabelInput cpu = cold_row();
  cpu.is_host = true;
  EXPECT_EQ(labels_of(cpu), Labels({"dram"}));
}

// C137: no cold row may claim more than the memory gives.
TEST(Labels, ColdAboveThePeakIsSuspect) {
  LabelInput input = cold_row();
  input.timing.bandwidth_gb_s = 4400;
  EXPECT_EQ(labels_of(input), Labels({"hbm", "suspect"}));
}

// C137: warm rows say where they live: llama7b shapes of 512, 2048 and 32768 tokens.
TEST(Labels, WarmRowsNameTheirCache) {
  for (const auto& [tokens, sets, want] :
       {std::tuple{512, 2, "l2"}, {2048, 2, "mixed"}, {32768, 2, "hbm"}}) {
    LabelInput input = cold_row();
    input.cache = CacheMode::kWarm;
    input.num_sets = sets;
    input.bytes.read = input.bytes.write = int64_t{tokens} * 16384;
    input.timing.limit_us = 0.001;
    EXPECT_EQ(labels_of(input).front(), want) << tokens;
  }
}

// C151: one token; the limit itself waits for latency.
TEST(Labels, LatencyBoundIfTheLimitIs) {
  LabelInput input = cold_row();
  input.bytes.read = input.bytes.write = 10'240;
  input.timing.limit_us = 1.1;
  input.timing.bandwidth_gb_s = 15;
  EXPECT_EQ(labels_of(input), Labels({"hbm", "latency-bound"}));
}

TEST(Labels, UnstableAndTableWarm) {
  LabelInput input = cold_row();
  input.timing.limit_ratio_ci_low = 0.93;
  input.timing.limit_ratio_ci_high = 0.97;
  input.timing.table_warm = true;
  EXPECT_EQ(labels_of(input), Labels({"hbm", "unstable", "table-warm"}));
}

}  // namespace
}  // namespace rope_bench
