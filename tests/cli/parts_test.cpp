// Parts of the command line that need no process.
#include "gtest/gtest.h"
#include "src/case/errors.h"
#include "src/cli/boards.h"
#include "src/cli/ncu_line.h"
#include "src/cli/options.h"
#include "src/cli/progress.h"

namespace rope_bench {
namespace {

TEST(Shards, SplitByNameTheSameEverywhere) {
  // Fixed: two machines, or two versions, must agree on who runs what.
  const Shard shard = parse_shard("1/4");
  EXPECT_EQ(shard.index, 1u);
  EXPECT_EQ(shard.count, 4u);
  std::string members;
  for (int t = 0; t < 16; ++t) {
    members += in_shard(shard, "llama7b/rope/fast/bf16/T" + std::to_string(t)) ? '1' : '0';
  }
  EXPECT_EQ(members, "1000100010100010");
}

TEST(Boards, AreFoundInAnySpelling) {
  EXPECT_EQ(board_named("h200").peak_gb_s, 4800);
  EXPECT_EQ(board_named("NVIDIA H200").peak_gb_s, 4800);
  EXPECT_EQ(board_named("rtx pro 6000").peak_gb_s, 1792);
  EXPECT_THROW(board_named("H2"), ConfigError);
}

TEST(Boards, ADisagreementAboutThePeakIsSaid) {
  DeviceInfo device;
  device.model = "NVIDIA H200";
  device.theoretical_peak_gb_s = 4814;  // rounding is none
  EXPECT_EQ(peak_note(device), "");
  device.theoretical_peak_gb_s = 2407;  // a clock that counts both edges already
  EXPECT_EQ(
      peak_note(device),
      "theoretical peak: 2407 GB/s by the device's clock and bus width, 4800 GB/s for H200 in "
      "the table of boards; percentages of it use the first");
  device.theoretical_peak_gb_s.reset();
  EXPECT_EQ(
      peak_note(device),
      "theoretical peak: the device does not say; the table of boards has 4800 GB/s for H200");
  device.model = "NVIDIA H200 NVL of tomorrow";
  EXPECT_EQ(peak_note(device), "");
}

// As `sh` reads it back, it is the same command.
TEST(NcuLine, QuotesWhatAShellWouldTakeApart) {
  const std::string line = ncu_line({"./rope-bench", "-c", "it's mine.json", "--set",
                                     "tokens=[1,2]", "-k", "T1$", "", "--profile"});
  EXPECT_EQ(
      line,
      "ncu --clock-control none --cache-control none --nvtx --nvtx-include rope-bench/ --set full "
      "./rope-bench -c 'it'\\''s mine.json' --set 'tokens=[1,2]' -k 'T1$' '' --profile");
}

TEST(ProgressLine, EstimatesFromFinishedCases) {
  EXPECT_EQ(progress_line("a", 0, 4, 0.0, 2.0), "[1/4] a");
  EXPECT_EQ(progress_line("b", 1, 4, 2.0, 0.5), "[2/4] b, 6 s left");
  EXPECT_EQ(progress_line("b", 1, 2, 2.0, 9.0), "[2/2] b, 1 s left");
  EXPECT_EQ(progress_line("c", 2, 202, 4.0, 0.0), "[3/202] c, 6 min 40 s left");
}

TEST(ProgressLine, IsSilentInShortRunsAndWhenOff) {
  std::FILE* file = std::tmpfile();
  {
    Progress terminal(Progress::Mode::kTerminal, file), off(Progress::Mode::kOff, file);
    terminal.update("a", 0, 2);
    off.update("a", 0, 2);
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace rope_bench
