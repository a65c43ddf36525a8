// A/B rounds on a device whose times are made up.
#include "src/measure/ab.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>

#include "src/measure/forwarding_backend.h"
#include "src/measure/runner.h"
#include "tests/measure/planted_backend.h"

namespace rope_bench {
namespace {

constexpr double kFixed = 50e-6;

struct World {
  std::string log;                // a, b: a timed window of a variant, r: sets laid out
  double drift = 0;               // per timed window
  std::set<const void*> first_q;  // where windows found q
};

class FakeWindow : public Window {
 public:
  explicit FakeWindow(const std::vector<Launch>& l) : launches(l) {}
  std::vector<Launch> launches;
};

// Two variants: `fast` takes 10 us, `slow` 10.5 us.
class FakeDevice : public ForwardingBackend {
 public:
  explicit FakeDevice(World& world)
      : ForwardingBackend(planted_backend(right_launch)), world_(world) {
    for (const RopeVariant& row : ForwardingBackend::variants()) {
      variants_.push_back(row);
      variants_.push_back(row);
      variants_.back().name = "slow";
    }
  }
  std::span<const RopeVariant> variants() const override { return variants_; }
  bool is_host() const override { return false; }
  void flush_cache() override {}
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    if (!launches.empty() && letter(launches) != ' ') world_.first_q.insert(launches[0].args.q.in);
    return std::make_unique<FakeWindow>(launches);
  }
  double time(Window& window) override {
    const std::vector<Launch>& launches = static_cast<FakeWindow&>(window).launches;
    const auto count = static_cast<double>(launches.size());
    if (launches.empty() || launches[0].variant == nullptr) return kFixed + 0.5e-6 * count;
    if (letter(launches) == ' ') return kFixed + 9e-6 * count;
    world_.log += letter(launches);
    factor_ += world_.drift;
    return kFixed + count * factor_ * (letter(launches) == 'b' ? 10.5e-6 : 10e-6);
  }
  double time_isolated(const Launch&) override { return 4e-6; }
  double host_cost(const Launch&) override { return 1e-6; }

 private:
  static char letter(const std::vector<Launch>& launches) {
    if (launches[0].variant == nullptr) return ' ';
    const std::string name = launches[0].variant->name;
    return name == "fast" ? 'a' : name == "slow" ? 'b' : ' ';
  }
  World& world_;
  std::vector<RopeVariant> variants_;
  double factor_ = 1;
};

RopeCase one_case(const std::string& variant) {
  RopeCase c;
  c.name = "case";
  c.variant = variant;
  c.num_heads = 4;
  c.num_kv_heads = 2;
  c.head_dim = 64;
  c.rope.rotary_dim = 64;
  c.tokens = 8;
  c.positions.offset = 3;
  c.max_position = 64;
  return c;
}

AbMeasurement run(World& world, int64_t rounds, Result* result = nullptr) {
  AbMeasurement measured;
  RunOptions options;
  options.check = false;  // nothing is computed
  options.against = AgainstVariant{"fast", rounds, [&](const AbMeasurement& m) { measured = m; }};
  const auto runner = make_runner(std::make_unique<FakeDevice>(world));
  const std::vector<Result> results = runner->run({one_case("slow")}, options);
  EXPECT_EQ(results.size(), 1u);
  if (result) *result = results.at(0);
  return measured;
}

TEST(AbRounds, GiveTheRatioOfTheTwo) {
  World world;
  Result result;
  const AbMeasurement m = run(world, 4, &result);
  ASSERT_EQ(m.log_ratios.size(), 4u);
  for (const double value : m.log_ratios) EXPECT_NEAR(value, std::log(1.05), 1e-9);
  EXPECT_NEAR(m.a_us.at(3), 10, 1e-9);
  EXPECT_NEAR(m.b_us.at(3), 10.5, 1e-9);
  EXPECT_EQ(result.status, Status::kUnchecked);
  EXPECT_FALSE(result.timing);
}

// Two of each to warm up, then A B B A, and B A A B in the next round; each round elsewhere.
TEST(AbRounds, AlternateInFreshBuffers) {
  World world;
  run(world, 2);
  // A turn is a pair of windows, a sample as many pairs as the plan says.
  const size_t round = world.log.size() / 2, pairs = (round - 8) / 8;
  ASSERT_EQ(round, 8 + 8 * pairs);
  std::string order;
  for (size_t at = 0; at < world.log.size(); at += round) {
    for (size_t turn = 0; turn < 4; ++turn) order += world.log[at + 2 * turn];
    for (size_t sample = 0; sample < 4; ++sample) order += world.log[at + 8 + 2 * pairs * sample];
  }
  EXPECT_EQ(order, "abababbaababbaab");
  EXPECT_EQ(world.first_q.size(), 2u);
}

// 0.5 % per window, and still the ratio of each pair of rounds is that of the variants.
TEST(AbRounds, DriftCancels) {
  World world;
  world.drift = 5e-3;
  const AbMeasurement m = run(world, 6);
  double sum = 0;
  for (const double value : m.log_ratios) sum += value;
  EXPECT_NEAR(sum / 6, std::log(1.05), 1e-3);
}

// Right kernels on the real CPU device, judged.
TEST(AbRounds, OfRealVariantsOnTheCpu) {
  std::vector<std::string> notes;
  const auto runner = make_runner(make_cpu_backend());
  AbMeasurement measured;
  RunOptions options;
  options.against = AgainstVariant{"naive", 2, [&](const AbMeasurement& m) { measured = m; }};
  const std::vector<Result> results = runner->run({one_case("fast")}, options);
  EXPECT_EQ(results.at(0).status, Status::kPassed) << results.at(0).reason;
  EXPECT_EQ(measured.log_ratios.size(), 2u);
  EXPECT_EQ(measured.a_wrong_units + measured.b_wrong_units, 0);
  EXPECT_GT(measured.a_us.at(0), 0);
  options.against->base = "none such";
  const std::vector<Result> none = runner->run({one_case("fast")}, options);
  EXPECT_EQ(none.at(0).status, Status::kUnsupported);
  EXPECT_NE(none.at(0).reason.find("no variant none such"), std::string::npos);
}

}  // namespace
}  // namespace rope_bench
