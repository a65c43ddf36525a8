// The planted faults, and that the self-test itself can fail.
#include "src/measure/selftest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "src/math/mistakes.h"
#include "src/measure/forwarding_backend.h"
#include "src/measure/selftest_slowdown.h"

namespace rope_bench {
namespace {

using Device = PlantedFault::Device;

TEST(Selftest, EveryFaultIsCaughtAndEveryRightKernelPasses) {
  const std::vector<SelftestRow> rows = selftest(make_cpu_backend());
  for (const SelftestRow& row : rows) EXPECT_TRUE(row.ok) << row.fault << ": " << row.complaint;
  const auto caught =
      std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.caught; });
  EXPECT_GE(caught, 60);
  EXPECT_EQ(rows.size() - static_cast<size_t>(caught), right_kernels().size());
  EXPECT_EQ(rows.back().fault, "slowdown: 25 %");
}

// A device whose windows take the number of their launches, to some power.
class MadeUpTimes : public ForwardingBackend {
 public:
  explicit MadeUpTimes(double power)
      : ForwardingBackend(make_cpu_backend()), info_(real().info()), power_(power) {
    info_.measured_peak_gb_s = 10;
    info_.floor_us = 1;
    info_.l2_bytes = 1 << 16;
  }
  const DeviceInfo& info() const override { return info_; }
  void flush_cache() override {}
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    auto window = std::make_unique<Counted>();
    window->count = static_cast<double>(launches.size());
    return window;
  }
  double time(Window& window) override {
    return 1e-6 * std::pow(static_cast<Counted&>(window).count, power_);
  }

 private:
  struct Counted : Window {
    double count = 0;
  };
  DeviceInfo info_;
  double power_;
};

SelftestRow slowdown_of(double power) {
  return find_planted_slowdown(*make_runner(std::make_unique<MadeUpTimes>(power)));
}

TEST(Selftest, APlantedSlowdownIsSeenAsLargeAsItIs) {
  const SelftestRow exact = slowdown_of(1);
  EXPECT_TRUE(exact.ok) << exact.complaint;
  EXPECT_EQ(exact.by, "seen as 25.0 % slower");
  // One on which a launch more takes no time, and one on which it takes twice its time.
  for (const auto& [power, seen] : {std::pair(0.0, "0.0 %"), std::pair(2.0, "56.2 %")}) {
    const SelftestRow row = slowdown_of(power);
    EXPECT_FALSE(row.ok);
    EXPECT_FALSE(row.caught);
    EXPECT_EQ(row.complaint,
              std::string("should be seen as 15 % to 35 % slower, is seen as ") + seen + " slower");
  }
}

TEST(Selftest, ThereAreFaultsEnoughOnEachDevice) {
  for (const Device other : {Device::kCpu, Device::kCuda}) {
    const auto faults = planted_faults();
    EXPECT_GE(std::count_if(faults.begin(), faults.end(),
                            [&](const PlantedFault& f) { return f.device != other; }),
              30);
  }
}

TEST(Selftest, EveryKnownMistakeIsPlanted) {
  std::set<std::string> planted, names;
  for (const PlantedFault& fault : planted_faults()) {
    planted.insert(fault.diagnosis);
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
  }
  for (const KnownMistake& mistake : evaluated_mistakes())
    EXPECT_TRUE(planted.count(mistake.name)) << mistake.name;
  for (const Evidence& one : evidences()) {
    // No launch can spoil the table that it is judged by without being caught at that.
    const bool of_table = std::string(one.name) == evidence::kTable.name;
    EXPECT_EQ(planted.count(one.name) == 0, of_table) << one.name;
  }
}

SelftestRow row_of(const PlantedFault& fault) {
  return selftest(make_cpu_backend(), {&fault, 1}).at(0);
}

// A fault that is none, one that is caught by something else, and one under another name: a
// self-test that accepted these would prove nothing.
TEST(Selftest, WhatIsNotCaughtAsItMustBeIsSaid) {
  PlantedFault harmless = planted_faults()[0];
  harmless.launch = [](FaultLaunch& l) { l.run(); };
  const SelftestRow missed = row_of(harmless);
  EXPECT_FALSE(missed.ok);
  EXPECT_FALSE(missed.caught);
  EXPECT_NE(missed.complaint.find("not caught, the row is passed"), std::string::npos);

  PlantedFault otherwise = planted_faults()[0];
  otherwise.reason = "guard band";
  EXPECT_FALSE(row_of(otherwise).ok);
  EXPECT_TRUE(row_of(otherwise).caught);

  PlantedFault misnamed = planted_faults()[0];
  misnamed.diagnosis = "negated_sin";
  EXPECT_NE(row_of(misnamed).complaint.find("should be diagnosed as negated_sin"),
            std::string::npos);
}

}  // namespace
}  // namespace rope_bench
