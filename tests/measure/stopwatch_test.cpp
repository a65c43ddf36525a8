// The engine on a device whose times are made up: what is computed from them is known.
#include "src/measure/stopwatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "src/measure/forwarding_backend.h"
#include "src/measure/runner.h"
#include "src/measure/statistics.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {
namespace {

constexpr double kFixed = 50e-6;  // paid once per window
constexpr double kKernel = 10e-6, kLimit = 9e-6;

// What happened, and how the device behaves.
struct World {
  // f: cache flushed, r: memory restored or filled, k: window of the kernel timed, l: of a limit,
  // 1: launched alone, s: synchronised, P: profiled.
  std::string log;
  std::set<const void*> first_q;  // where the first launch of recorded kernel windows found q
  // Where the windows timed last found q, of the kernel and of a limit.
  const void *kernel_q = nullptr, *limit_q = nullptr;
  std::vector<std::pair<const void*, const void*>> timed_at;  // both, whenever a limit was timed
  int64_t kernel_launches = 0;
  std::vector<const void*> profiled;
  double drift = 0;                 // of both, per timed window
  std::vector<DeviceState> states;  // in turn; empty: no monitor
  size_t reads = 0;
};

class FakeWindow : public Window {
 public:
  explicit FakeWindow(const std::vector<Launch>& l) : launches(l) {}
  std::vector<Launch> launches;
};

class FakeMonitor : public DeviceMonitor {
 public:
  explicit FakeMonitor(World& world) : world_(world) {}
  DeviceState read() override { return world_.states[world_.reads++ % world_.states.size()]; }
  std::vector<std::pair<std::string, std::string>> facts() override { return {}; }
  std::optional<int> num_processes() override { return 0; }

 private:
  World& world_;
};

// A GPU, as far as timing is concerned: windows have a fixed cost. Runs nothing.
class FakeDevice : public ForwardingBackend {
 public:
  explicit FakeDevice(World& world)
      : ForwardingBackend(planted_backend(right_launch)), world_(world), monitor_(world) {}
  bool is_host() const override { return false; }
  DeviceMonitor* monitor() override { return world_.states.empty() ? nullptr : &monitor_; }
  void flush_cache() override { world_.log += 'f'; }
  void replicate(const SetRange& to, const void* source) override {
    world_.log += 'r';
    ForwardingBackend::replicate(to, source);
  }
  void fill(const SetRange& to, uint8_t pattern) override {
    world_.log += 'r';
    ForwardingBackend::fill(to, pattern);
  }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    if (is_kernel(launches)) world_.first_q.insert(launches[0].args.q.in);
    return std::make_unique<FakeWindow>(launches);
  }
  double time(Window& window) override {
    const std::vector<Launch>& launches = static_cast<FakeWindow&>(window).launches;
    if (launches.empty() || launches[0].variant == nullptr)
      return kFixed + 0.5e-6 * count(launches);
    world_.log += is_kernel(launches) ? 'k' : 'l';
    if (is_kernel(launches)) world_.kernel_launches += static_cast<int64_t>(launches.size());
    (is_kernel(launches) ? world_.kernel_q : world_.limit_q) = launches[0].args.q.in;
    if (!is_kernel(launches)) world_.timed_at.emplace_back(world_.kernel_q, world_.limit_q);
    factor_ += world_.drift;
    return kFixed + count(launches) * factor_ * (is_kernel(launches) ? kKernel : kLimit);
  }
  void launch(const Launch&) override { world_.log += '1'; }
  void synchronize() override { world_.log += 's'; }
  void profile(const Launch& one) override {
    world_.log += 'P';
    world_.profiled.push_back(one.args.q.in);
  }
  double time_isolated(const Launch& one) override { return one.variant == nullptr ? 4e-6 : 14e-6; }
  double host_cost(const Launch& one) override { return one.variant == nullptr ? 1e-6 : 2e-6; }

 private:
  static double count(const std::vector<Launch>& launches) {
    return static_cast<double>(launches.size());
  }
  bool is_kernel(const std::vector<Launch>& launches) const {
    return !launches.empty() && launches[0].variant != nullptr &&
           std::string(launches[0].variant->name) == "fast";
  }

  World& world_;
  FakeMonitor monitor_;
  double factor_ = 1;
};

RopeCase one_case() {
  RopeCase c;
  c.name = "case";
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 64;
  c.tokens = 8;
  c.positions.offset = 3;
  c.max_position = 64;
  c.measure.max_time_s = 20;  // none of the tests comes near it
  c.measure.min_time_ms = 0;
  return c;
}

Result run(World& world, const RopeCase& c = one_case(), DeviceInfo* device = nullptr) {
  RunOptions options;
  options.check = false;  // nothing is computed
  const auto runner = make_runner(std::make_unique<FakeDevice>(world));
  const std::vector<Result> results = runner->run({c}, options);
  if (device != nullptr) *device = runner->device_info();
  EXPECT_EQ(results.size(), 1u);
  EXPECT_TRUE(results.at(0).timing) << results.at(0).reason;
  return results.at(0);
}

TEST(Stopwatch, FixedCostsCancel) {
  World world;
  DeviceInfo device;
  const Result r = run(world, one_case(), &device);
  const Timing& t = *r.timing;
  EXPECT_NEAR(t.median_us, 10, 1e-9);
  EXPECT_NEAR(*t.limit_us, 9, 1e-9);
  EXPECT_NEAR(*t.limit_ratio, 0.9, 1e-12);
  // Nothing varies: what is left of the interval is what processes differ by.
  EXPECT_NEAR(*t.limit_ratio_ci_low, 0.9 * 0.998, 1e-12);
  EXPECT_NEAR(*t.limit_ratio_ci_high, 0.9 * 1.002, 1e-12);
  EXPECT_NEAR(t.mad_us, 0, 1e-9);
  EXPECT_EQ(t.stopped_by, "precision");
  EXPECT_EQ(t.num_rounds, 10);
  EXPECT_EQ(t.num_dropped, 0);
  EXPECT_NEAR(*t.isolated_us, 14, 1e-9);
  EXPECT_NEAR(*t.host_launch_us, 2, 1e-9);
  EXPECT_NEAR(*device.floor_us, 0.5, 1e-9);
  EXPECT_NEAR(*device.floor_isolated_us, 4, 1e-9);
  EXPECT_NEAR(*device.floor_host_launch_us, 1, 1e-9);
  // So few bytes: an empty launch is all that the device could do.
  EXPECT_NEAR(*t.t_sol_us, 0.5, 1e-9);
  EXPECT_NEAR(*t.percent_of_t_sol, 5, 1e-9);
}

// One scratch launch for every 20: 10.5 us, the limit as it is, and the row says so.
TEST(Stopwatch, APlantedSlowdownIsWhatItSays) {
  World world;
  RunOptions options;
  options.check = false;
  options.slow_every = 20;
  const auto runner = make_runner(std::make_unique<FakeDevice>(world));
  const Result r = runner->run({one_case()}, options).at(0);
  ASSERT_TRUE(r.timing) << r.reason;
  EXPECT_NEAR(r.timing->median_us, 10.5, 1e-9);
  EXPECT_NEAR(*r.timing->limit_us, 9, 1e-9);
  EXPECT_NEAR(*r.timing->limit_ratio, 9 / 10.5, 1e-12);
  EXPECT_EQ(r.labels.back(), "slowed");
  EXPECT_EQ(r.timing->injected_slowdown_percent, 5);
  EXPECT_EQ(r.label_reasons.back().second,
            "one launch on scratch buffers is timed with every 20: 5 % more than the kernel takes");
}

// C139: buffers are restored, then the cache is flushed, then a window is timed; nothing in
// between.
TEST(Stopwatch, FlushingIsTheLastThingBeforeAColdWindow) {
  World world;
  run(world);
  const size_t first = world.log.find('k');  // the peak is measured before
  ASSERT_NE(first, std::string::npos);
  for (size_t i = first; i < world.log.size(); ++i) {
    if (world.log[i] == 'k' || world.log[i] == 'l') {
      EXPECT_EQ(world.log[i - 1], 'f') << i;
      EXPECT_EQ(world.log[i - 2], 'r') << i;
    }
  }
  World warm;
  RopeCase c = one_case();
  c.measure.cache = {CacheMode::kWarm};
  run(warm, c);
  EXPECT_EQ(warm.log.find('f', warm.log.find('k')), std::string::npos);  // floors come before
}

// C149: the kernel has run with these very arguments before anything of it counts.
TEST(Stopwatch, WarmsUpWithTheKernelItself) {
  World world;
  const Result r = run(world);
  EXPECT_GT(world.kernel_launches, r.timing->num_launches);
}

// A round: windows of kernel and limit, two turns untimed, then the samples of A B B A.
TEST(Stopwatch, EveryRoundRunsAllWindowsTwiceUntimed) {
  World world;
  RopeCase c = one_case();
  c.measure.precision = 1;
  const Timing t = *run(world, c).timing;
  std::string windows;
  for (const char what : world.log.substr(world.log.find('k'))) {
    if (what == 'k' || what == 'l') windows += what;
  }
  // Two turns of a pair of windows each; then samples, of as many pairs as the plan says.
  const size_t in_round = windows.size() / static_cast<size_t>(t.num_rounds);
  const size_t sample = (in_round - 8) / 4;
  const std::string round = "kkllkkll" + std::string(sample, 'k') + std::string(2 * sample, 'l') +
                            std::string(sample, 'k');
  std::string want;
  for (int64_t i = 0; i < t.num_rounds; ++i) want += round;
  EXPECT_EQ(windows, want);
}

// Where the buffers of a round lie, both are timed.
TEST(Stopwatch, KernelAndLimitAreTimedInTheSameBuffers) {
  World world;
  run(world);
  std::set<const void*> places;
  for (const auto& [kernel, limit] : world.timed_at) {
    if (kernel == nullptr) continue;  // the race of the limits comes before
    EXPECT_EQ(kernel, limit);
    places.insert(limit);
  }
  EXPECT_GT(places.size(), 2u);
}

// C142, C143, C151: 10 us for the 20480 B of q and k, a table row of 512 B and a position of 4 B.
// GB and percent of the peak are powers of ten alike.
TEST(Stopwatch, BandwidthIsBytesOverTime) {
  World world;
  RopeCase c = one_case();
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = c.rope.rotary_dim = 128;
  c.tokens = 1;
  DeviceInfo device;
  const Result r = run(world, c, &device);
  EXPECT_EQ(r.bytes.total(), 20996);
  EXPECT_NEAR(r.timing->median_us, 10, 1e-9);
  EXPECT_NEAR(r.timing->bandwidth_gb_s, 2.0996, 1e-9);
  ASSERT_TRUE(device.measured_peak_gb_s);
  EXPECT_NEAR(r.timing->percent_of_measured_peak.value_or(0), 209.96 / *device.measured_peak_gb_s,
              1e-9);
}

// Kernel, limit, limit, kernel: drift hits both alike. Here 0.1 % per window, 20 % in a row.
TEST(Stopwatch, DriftCancelsInTheRatioAndIsShown) {
  World world;
  world.drift = 1e-3;
  const Timing t = *run(world).timing;
  EXPECT_NEAR(*t.limit_ratio, 0.9, 0.9 * 1e-3);
  EXPECT_GT(t.last_tenth_us, t.first_tenth_us * 1.03);
}

// What is printed follows from the rounds, as anybody can compute it again.
TEST(Stopwatch, RoundsAreThoseThatNumbersAreOf) {
  World world;
  world.drift = 1e-3;
  world.states = {{1980, 3201, 0}, {1980, 3201, 0}, {1700, 3201, 0}};
  const Timing t = *run(world).timing;
  ASSERT_GT(t.num_dropped, 0);
  ASSERT_EQ(static_cast<int64_t>(t.round_times_us.size()), t.num_rounds);
  ASSERT_EQ(t.round_limits_us.size(), t.round_times_us.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < t.round_times_us.size(); ++i)
    ratios.push_back(t.round_limits_us[i] / t.round_times_us[i]);
  EXPECT_DOUBLE_EQ(median(t.round_times_us), t.median_us);
  EXPECT_DOUBLE_EQ(median(t.round_limits_us), *t.limit_us);
  EXPECT_NEAR(median(ratios), *t.limit_ratio, 1e-12);
}

TEST(Stopwatch, BuffersMoveBetweenRounds) {
  World world;
  const Timing t = *run(world).timing;
  // One place a round, and those where the limits raced.
  EXPECT_GE(world.first_q.size(), static_cast<size_t>(t.num_rounds));
}

TEST(Stopwatch, RoundsOffTheClockAreMeasuredAgain) {
  World world;
  world.states = {{1980, 3201, 0}, {1980, 3201, 0}, {1700, 3201, 0}};
  const Result r = run(world);
  EXPECT_EQ(r.timing->num_rounds, 10);
  EXPECT_EQ(r.timing->num_dropped, 4);  // the 3rd, 6th, 9th and 12th of 14
  EXPECT_EQ(r.timing->dropped_reason, "4 of 14 rounds more than 2 % under the highest clock");
  EXPECT_EQ(r.timing->sm_clock_mhz, 1980);
  EXPECT_EQ(std::count(r.labels.begin(), r.labels.end(), "unstable"), 0);
}

// C146: a device that is never right.
TEST(Stopwatch, ADeviceThatIsAlwaysThrottledStillGivesARow) {
  World world;
  world.states = {{1200, 3201, 0x4}};
  const Result r = run(world);
  EXPECT_EQ(r.timing->num_rounds, 32);
  EXPECT_EQ(std::count(r.labels.begin(), r.labels.end(), "unstable"), 1);
  ASSERT_EQ(r.label_reasons.back().first, "unstable");
  EXPECT_EQ(r.label_reasons.back().second, "throttled in 32 of 32 rounds (software power cap)");
}

// C145: a time per launch, whatever the time that measuring takes.
TEST(Stopwatch, MinTimeDoesNotChangeTheTimePerLaunch) {
  for (const double ms : {1, 20, 200}) {
    World world;
    RopeCase c = one_case();
    c.measure.min_time_ms = ms;
    EXPECT_NEAR(run(world, c).timing->median_us, 10, 1e-9) << ms;
  }
}

// --profile: one launch before, and one that is marked with nothing beside it; cold on a set that
// nothing touched.
TEST(Profile, OneMarkedLaunchPerRow) {
  for (const CacheMode cache : {CacheMode::kCold, CacheMode::kWarm}) {
    World world;
    RopeCase c = one_case();
    c.measure.cache = {cache};
    RunOptions options;
    options.profile = true;
    const auto results = make_runner(std::make_unique<FakeDevice>(world))->run({c, c}, options);
    ASSERT_EQ(results.size(), 2u);
    for (const Result& r : results) {
      EXPECT_EQ(r.status, Status::kUnchecked) << r.reason;
      EXPECT_FALSE(r.timing);
    }
    std::string log = world.log;
    std::erase(log, 'r');
    EXPECT_EQ(log, cache == CacheMode::kCold ? "1fsP1fsP" : "1sP1sP");
    EXPECT_EQ(world.profiled.size(), 2u);
  }
}

}  // namespace
}  // namespace rope_bench
