// Right kernels on random cases: a check that fails one of them is wrong itself.
// ROPE_BENCH_FALSE_ALARM_CASES and ROPE_BENCH_FALSE_ALARM_FIRST change how many and from which
// number on (scripts/false_alarms).
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/math/scaling.h"
#include "src/measure/runner.h"
#include "tests/measure/random_config.h"

namespace rope_bench {
namespace {

uint64_t number_of(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(FalseAlarms, ThereAreNone) {
  const uint64_t first = number_of("ROPE_BENCH_FALSE_ALARM_FIRST", 0);
  const uint64_t wanted = number_of("ROPE_BENCH_FALSE_ALARM_CASES", 2000);
  std::vector<std::string> notes;
  const auto runner = Runner::open(parse_device("cpu"), &notes);
  RunOptions options;
  options.measure = false;
  options.checks.invariants = true;
  std::map<Status, uint64_t> ended;
  std::map<std::string, uint64_t> why_not;
  std::set<std::string> seen;  // what passed at least once
  std::map<std::string, std::map<Holds, uint64_t>> invariants;
  uint64_t refused = 0, alarms = 0;
  for (uint64_t number = first; ended[Status::kPassed] < wanted; ++number) {
    ASSERT_LT(number - first, 4 * wanted) << "most of what is drawn does not run";
    const std::string text = random_config(number);
    RopeCase c;
    try {
      c = parse_config(text, "drawn", scaling_catalog(), {}).cases.at(0);
    } catch (const ConfigError& error) {
      ++why_not[error.what()];
      ++refused;
      continue;
    }
    const Result result = runner->run({c}, options).at(0);
    ++ended[result.status];
    for (const Invariant& one : result.invariants) {
      ++invariants[one.name][one.holds];
      if (one.holds == Holds::kViolated && ++alarms <= 5)
        ADD_FAILURE() << number << ": " << text << "\n"
                      << one.name << " is " << one.value << ", " << one.tolerance << " allowed";
    }
    if (result.status == Status::kPassed) {
      for (const std::string& what :
           {std::string(name(c.op)), std::string(info(c.dtype).name), std::string(name(c.data)),
            std::string(info(c.rope.pairing).name), c.variant, c.rope.scaling.type,
            c.rope.axes.kind})
        seen.insert(what);
    } else if (result.status == Status::kFailed || result.status == Status::kError) {
      if (++alarms <= 5) ADD_FAILURE() << number << ": " << text << "\n" << result.reason;
    } else {
      ++why_not[result.reason];
    }
  }
  EXPECT_EQ(alarms, 0u);
  // Ops, dtypes, kinds of data, pairings, variants, scalings and axes (both have a none): all were
  // met.
  if (wanted >= 1000) {
    // Each was looked at in a tenth of them.
    EXPECT_EQ(invariants.size(), 6u);
    for (const auto& [name, ends] : invariants)
      EXPECT_GT(ends.count(Holds::kHeld) != 0 ? ends.at(Holds::kHeld) : 0, wanted / 10) << name;
    EXPECT_GE(seen.size(), 6u + 3 + 8 + 2 + 4 + 7 + 2);
  }
  std::printf(
      "%llu right cases from number %llu on: %llu passed, %llu false alarms; %llu refused "
      "by the reader, %llu not run\n",
      static_cast<unsigned long long>(ended[Status::kPassed] + alarms),
      static_cast<unsigned long long>(first),
      static_cast<unsigned long long>(ended[Status::kPassed]),
      static_cast<unsigned long long>(alarms), static_cast<unsigned long long>(refused),
      static_cast<unsigned long long>(ended[Status::kUnsupported] + ended[Status::kSkipped]));
  for (const auto& [why, count] : why_not) {
    if (std::getenv("ROPE_BENCH_FALSE_ALARM_WHY") != nullptr)
      std::printf("%llu: %s\n", static_cast<unsigned long long>(count), why.c_str());
  }
}

}  // namespace
}  // namespace rope_bench
