#include "src/measure/device_speed.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "src/measure/forwarding_backend.h"

namespace rope_bench {
namespace {

// A host that takes a second for each launch, and where others run in between: how much longer a
// window takes follows a list.
class BusyHost : public ForwardingBackend {
 public:
  BusyHost(std::unique_ptr<Backend> real, std::vector<double> delays)
      : ForwardingBackend(std::move(real)), delays_(std::move(delays)) {}

  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    const RopeKernelArgs& args = launches.front().args;
    // Each of q and k is read and written.
    bytes_ = 2.0 * static_cast<double>(args.num_tokens) * 2 * args.head_dim *
             (args.q.num_heads + args.k.num_heads);
    return std::make_unique<Launches>(launches.size());
  }
  double time(Window& window) override {
    const auto seconds = static_cast<double>(static_cast<Launches&>(window).count);
    return seconds + delays_[calls_++ % delays_.size()];
  }
  double bytes_of_launch() const { return bytes_; }

 private:
  struct Launches : Window {
    explicit Launches(size_t n) : count(n) {}
    size_t count;
  };
  std::vector<double> delays_;
  size_t calls_ = 0;
  double bytes_ = 0;
};

double peak_over_true(const std::vector<double>& delays) {
  BusyHost host(make_cpu_backend(), delays);
  const double peak = measure_peak(host);
  return peak * 1e9 / host.bytes_of_launch();
}

// Whatever windows others lengthen, the peak is none that the host does not have.
TEST(DeviceSpeed, OthersOnAHostNeverRaiseThePeak) {
  EXPECT_DOUBLE_EQ(peak_over_true({0}), 1);
  EXPECT_DOUBLE_EQ(peak_over_true({0.9, 0}), 1);
  EXPECT_DOUBLE_EQ(peak_over_true({0, 0.9}), 1);
  EXPECT_DOUBLE_EQ(peak_over_true({0.5, 0.5, 0.5, 0, 0.5}), 1);
  EXPECT_LT(peak_over_true({1, 2, 1}), 1);
}

}  // namespace
}  // namespace rope_bench
