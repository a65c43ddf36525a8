// A kernel that never returns, on the CPU device: the run ends, and what was finished is there.
#include "src/measure/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "src/measure/runner.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {
namespace {

RopeCase small_case(const char* name) {
  RopeCase c;
  c.name = name;
  c.num_heads = 2;
  c.num_kv_heads = 1;
  c.head_dim = 64;
  c.rope.rotary_dim = 64;
  c.tokens = 3;
  c.positions.offset = 3;
  c.max_position = 64;
  c.measure.timeout_s = 0.3;
  return c;
}

std::atomic<int> launches{0};
std::atomic<bool> interrupt_now{false};

// Right in the two launches of the first row's check, then it never comes back.
int32_t hangs_in_the_second_row(const RopeKernelArgs* args) {
  if (launches++ < 2) return right_launch(args);
  interrupt_now = true;
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// As the program does: rows as they come, then the end.
[[noreturn]] void run_to_the_end(bool interrupt) {
  RunOptions options;
  options.measure = false;
  options.on_result = [](const Result& r, size_t, size_t) {
    std::fprintf(stderr, "<%s %s %s>", r.rope_case.name.c_str(), name(r.status), r.reason.c_str());
  };
  if (interrupt) options.interrupted = [] { return interrupt_now.load(); };
  options.on_hang = [](bool was_interrupted) { std::_Exit(was_interrupted ? 130 : 6); };
  std::vector<RopeCase> cases = {small_case("a"), small_case("b"), small_case("c")};
  if (interrupt) cases[1].measure.timeout_s = 60;
  make_runner(planted_backend(hangs_in_the_second_row))->run(cases, options);
  std::_Exit(1);  // came back
}

class Hang : public testing::Test {
 protected:
  // The child starts anew: threads do not survive a fork.
  Hang() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using HangDeathTest = Hang;

TEST_F(HangDeathTest, IsReportedAndEndsTheRunWithItsRowsKept) {
  EXPECT_EXIT(run_to_the_end(false), testing::ExitedWithCode(6),
              "<a passed ><b error hung: the device did not answer within measure.timeout_s, 0.3 s>"
              "<c error not run: the device hung in b>$");
}

TEST_F(HangDeathTest, AnInterruptedRunDoesNotWaitForIt) {
  EXPECT_EXIT(run_to_the_end(true), testing::ExitedWithCode(130), "<a passed >$");
}

TEST(Watchdog, OperationsWithinTheirTimeAreLeftAlone) {
  std::atomic<int> gave_up{0};
  Watchdog dog(nullptr, [&](Watchdog::Why) { ++gave_up; });
  dog.set_timeout(1);
  // Together longer than the timeout, none of them alone, not even on a busy machine.
  for (int i = 0; i < 24; ++i) {
    const Watchdog::Watch watch(&dog);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  // Time between operations does not count.
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(gave_up, 0);
}

// More seconds than the clock can count are no deadline in the past.
TEST(Watchdog, AHugeTimeoutDoesNotOverflow) {
  std::atomic<int> gave_up{0};
  Watchdog dog(nullptr, [&](Watchdog::Why) { ++gave_up; });
  dog.set_timeout(1e300);
  {
    const Watchdog::Watch watch(&dog);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  EXPECT_EQ(gave_up, 0);
}

}  // namespace
}  // namespace rope_bench
