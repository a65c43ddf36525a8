// The loading of NVML against libraries built for this test (fake_nvml.cpp).
#include "src/measure/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>

namespace rope_bench {
namespace {

constexpr const char* kBusId = "0000:17:00.0";

TEST(Nvml, ReadsWhatThereIs) {
  std::string why;
  const auto monitor = open_nvml(kBusId, &why, FAKE_NVML);
  ASSERT_TRUE(monitor) << why;
  const DeviceState state = monitor->read();
  EXPECT_EQ(state.sm_clock_mhz, 1755);
  EXPECT_EQ(state.memory_clock_mhz, 3201);
  EXPECT_EQ(state.throttle, 0x1u);
  EXPECT_EQ(monitor->num_processes(), 70);
  const std::vector<std::pair<std::string, std::string>> want = {{"driver", "580.1.2"},
                                                                 {"sm_clock_now_mhz", "1755"},
                                                                 {"sm_clock_max_mhz", "1980"},
                                                                 {"memory_clock_now_mhz", "3201"},
                                                                 {"memory_clock_max_mhz", "3201"},
                                                                 {"throttled_by", "nothing"},
                                                                 {"power_w", "122.4"},
                                                                 {"power_limit_w", "700.0"},
                                                                 {"temperature_c", "41"},
                                                                 {"ecc_mode", "on"},
                                                                 {"mig_mode", "unknown"}};
  EXPECT_EQ(monitor->facts(), want);
}

TEST(Nvml, AnOldDriverSaysLess) {
  std::string why;
  const auto monitor = open_nvml(kBusId, &why, FAKE_NVML_OLD);
  ASSERT_TRUE(monitor) << why;
  const DeviceState state = monitor->read();
  EXPECT_FALSE(state.sm_clock_mhz);
  EXPECT_EQ(state.throttle, 0x44u);
  EXPECT_EQ(throttle_text(*state.throttle), "software power cap, hardware thermal slowdown");
  EXPECT_FALSE(monitor->num_processes());
  std::map<std::string, std::string> facts;
  for (const auto& [key, value] : monitor->facts()) facts[key] = value;
  EXPECT_EQ(facts["driver"], "unknown");
  EXPECT_EQ(facts["power_w"], "unknown");
  EXPECT_EQ(facts["throttled_by"], "software power cap, hardware thermal slowdown");
}

TEST(Nvml, StartsAndStopsInPairs) {
  void* library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);  // keeps its counter alive
  ASSERT_NE(library, nullptr);
  const auto starts = reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_starts"));
  std::string why;
  auto monitor = open_nvml(kBusId, &why, FAKE_NVML);
  EXPECT_EQ(starts(), 1);
  monitor.reset();
  EXPECT_EQ(starts(), 0);
  EXPECT_FALSE(open_nvml("0000:99:00.0", &why, FAKE_NVML));
  EXPECT_EQ(why, "it does not know device 0000:99:00.0, error 6");
  EXPECT_EQ(starts(), 0);
  dlclose(library);
}

TEST(Nvml, WithoutItThereIsAReason) {
  std::string why;
  EXPECT_FALSE(open_nvml(kBusId, &why, "libno-such-nvml.so.1"));
  EXPECT_EQ(why, "it cannot be loaded");
  // A library, but not this one.
  EXPECT_FALSE(open_nvml(kBusId, &why, "libm.so.6"));
  EXPECT_EQ(why, "it lacks functions");
}

}  // namespace
}  // namespace rope_bench
