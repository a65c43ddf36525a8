#include "src/measure/labels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "src/case/label_rows.h"

namespace rope_bench {
namespace {

using Labels = std::vector<std::string>;

Labels names_of(const LabelInput& input) {
  Labels names;
  for (const Label& label : labels_of(input)) names.push_back(label.name);
  return names;
}

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
  EXPECT_EQ(names_of(cold_row()), Labels({"hbm"}));
  LabelInput cpu = cold_row();
  cpu.is_host = true;
  EXPECT_EQ(names_of(cpu), Labels({"dram"}));
}

// C137: no cold row may claim more than the memory gives.
TEST(Labels, ColdAboveThePeakIsSuspect) {
  LabelInput input = cold_row();
  input.timing.bandwidth_gb_s = 4400;
  EXPECT_EQ(names_of(input), Labels({"hbm", "suspect"}));
}

// C137: warm rows say where they live: llama7b shapes of 512, 2048 and 32768 tokens, 8, 32 and 512
// MiB a set, of a cache of 60; twice as much out of place.
TEST(Labels, WarmRowsNameTheirCache) {
  for (const auto& [tokens, in_place, want, share] : {std::tuple{512, true, "l2", "26.7"},
                                                      {512, false, "mixed", "53.3"},
                                                      {2048, true, "mixed", "107"},
                                                      {2048, false, "hbm", "213"},
                                                      {32768, true, "hbm", "1.71e+03"},
                                                      {32768, false, "hbm", "3.41e+03"}}) {
    LabelInput input = cold_row();
    input.cache = CacheMode::kWarm;
    input.num_sets = 2;
    input.bytes.read = input.bytes.write = int64_t{tokens} * 16384;
    input.bytes.in_place = in_place;
    input.timing.limit_us = 0.001;
    EXPECT_EQ(names_of(input).front(), want) << tokens << ' ' << in_place;
    EXPECT_EQ(labels_of(input).front().reason,
              std::string("all sets together take ") + share + " % of the last-level cache");
  }
}

// C151: one token; the limit itself waits for latency.
TEST(Labels, LatencyBoundIfTheLimitIs) {
  LabelInput input = cold_row();
  input.bytes.read = input.bytes.write = 10'240;
  input.timing.limit_us = 1.1;
  input.timing.bandwidth_gb_s = 15;
  EXPECT_EQ(names_of(input), Labels({"hbm", "latency-bound"}));
}

// A CPU has caches of its cores beside the one they share: 2 cores of 1 MiB and 60 MiB.
TEST(Labels, WarmRowsOnTheCpuNameTheCacheThatHoldsThem) {
  for (const auto& [bytes, want] : {std::pair{500'000, "l2"},
                                    {20'000'000, "llc"},
                                    {60'000'000, "mixed"},
                                    {200'000'000, "dram"}}) {
    LabelInput input = cold_row();
    input.is_host = true;
    input.cache = CacheMode::kWarm;
    input.num_sets = 2;
    input.device.own_l2_bytes = int64_t{2} << 20;
    input.bytes.read = input.bytes.write = bytes / 2;
    input.bytes.in_place = true;
    EXPECT_EQ(names_of(input).front(), want) << bytes;
    input.device.own_l2_bytes = 0;  // unknown
    EXPECT_NE(names_of(input).front(), "l2") << bytes;
  }
}

// Every reason has the row's figures in it.
TEST(Labels, SayWhy) {
  LabelInput input = cold_row();
  input.timing.bandwidth_gb_s = 4730;
  input.timing.limit_us = 83.886080 / 4.3 * 5;  // a fifth of the peak
  input.timing.limit_ratio_ci_low = 0.931;
  input.timing.limit_ratio_ci_high = 0.969;
  input.timing.dropped_reason = "3 of 20 rounds more than 2 % under the highest clock";
  const std::vector<Label> labels = labels_of(input);
  ASSERT_EQ(labels.size(), 4u);
  EXPECT_EQ(labels[1].reason, "the limit itself reaches 20 % of the measured peak");
  EXPECT_EQ(labels[2].reason, "cold, and 110 % of the measured peak");
  EXPECT_EQ(labels[3].reason,
            "half of the interval of limit_ratio is 2 % of it, precision asks for 0.5 %; 3 of 20 "
            "rounds more than 2 % under the highest clock");
}

// C146: rounds off their clocks had to count. However narrow the interval, the row says so.
TEST(Labels, RowsThatLeftTheirClocksAreUnstable) {
  LabelInput input = cold_row();
  input.timing.left_clocks = true;
  input.timing.dropped_reason = "throttled in 32 of 32 rounds (software power cap)";
  const std::vector<Label> labels = labels_of(input);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[1].name, "unstable");
  EXPECT_EQ(labels[1].reason, "throttled in 32 of 32 rounds (software power cap)");
}

TEST(Labels, NotesHaveTheReasonAndTheAdvice) {
  Result row;
  row.labels = {"unstable", "identity", "of-tomorrow"};
  row.label_reasons = {{"unstable", "half is 2 %"}};
  EXPECT_EQ(label_note(row, "unstable"),
            "unstable: half is 2 %; leave the device to this run alone, or raise `max_time_s`");
  EXPECT_EQ(label_note(row, "identity"),
            "identity: every position is 0: nothing turns, a kernel that does nothing passes; give "
            "it an offset: `--set position_offset=100`");
  EXPECT_EQ(label_note(row, "of-tomorrow"), "of-tomorrow");
}

// Every label that labels_of() can give is in the table, and the table is what the page has.
TEST(Labels, TheTableIsThatOfTheDocumentation) {
  std::ifstream page(MEASURING_DOC);
  std::multiset<std::string> lines;
  for (std::string line; std::getline(page, line);) lines.insert(line);
  std::set<std::string> names;
  for (const LabelRow& row : label_rows()) {
    names.insert(row.name);
    const std::string line =
        std::string("| `") + row.name + "` | " + row.meaning + " | " + row.advice + " |";
    EXPECT_EQ(lines.count(line), 1u) << "docs/measuring.md lacks\n" << line;
  }
  EXPECT_EQ(names.size(), label_rows().size());
  for (const char* name : {"hbm", "dram", "mixed", "l2", "llc", "latency-bound", "suspect",
                           "unstable", "table-warm"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(Labels, UnstableAndTableWarm) {
  LabelInput input = cold_row();
  input.timing.limit_ratio_ci_low = 0.93;
  input.timing.limit_ratio_ci_high = 0.97;
  input.timing.table_warm = true;
  EXPECT_EQ(names_of(input), Labels({"hbm", "unstable", "table-warm"}));
}

}  // namespace
}  // namespace rope_bench
