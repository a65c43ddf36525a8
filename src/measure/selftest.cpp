#include "src/measure/selftest.h"

#include <chrono>

#include "src/measure/forwarding_backend.h"
#include "src/measure/runner.h"
#include "src/measure/selftest_slowdown.h"

namespace rope_bench {
namespace {

using Clock = std::chrono::steady_clock;

class PlantedWindow : public Window {
 public:
  explicit PlantedWindow(std::vector<Launch> all) : launches(std::move(all)) {}
  const std::vector<Launch> launches;
};

// A device whose variants have a fault. Its numbers are fixed and small: what is timed here is
// thrown away.
class PlantedDevice : public ForwardingBackend {
 public:
  explicit PlantedDevice(std::unique_ptr<Backend> device)
      : ForwardingBackend(std::move(device)), info_(real().info()) {
    info_.measured_peak_gb_s = 10;
    info_.floor_us = 1;
    info_.l2_bytes = 1 << 16;
  }

  // Null: right kernels.
  void plant(const PlantedFault* fault, const RopeCase* c) {
    fault_ = fault;
    case_ = c;
    memory_ = {};
  }

  const DeviceInfo& info() const override { return info_; }
  std::span<const RopeVariant> limits() const override { return real().limits().first(1); }
  size_t set_budget() const override { return size_t{4} << 20; }
  void flush_cache() override {}

  void launch(const Launch& launch) override {
    if (!is_planted(launch)) return real().launch(launch);
    FaultLaunch planted(real(), launch, *case_, memory_);
    fault_->launch(planted);
    ++memory_.launches;
  }
  std::unique_ptr<Window> record(const std::vector<Launch>& launches) override {
    if (launches.empty() || !is_planted(launches.front())) return real().record(launches);
    return std::make_unique<PlantedWindow>(launches);
  }
  double time(Window& window) override {
    auto* planted = dynamic_cast<PlantedWindow*>(&window);
    return planted == nullptr ? real().time(window) : seconds_of(planted->launches);
  }
  double time_isolated(const Launch& one) override {
    return is_planted(one) ? seconds_of({one}) : real().time_isolated(one);
  }
  double host_cost(const Launch& one) override {
    return is_planted(one) ? seconds_of({one}) : real().host_cost(one);
  }

 private:
  bool is_planted(const Launch& launch) const {
    if (fault_ == nullptr || fault_->launch == nullptr || launch.variant == nullptr) return false;
    const auto rows = variants();
    return launch.variant >= rows.data() && launch.variant < rows.data() + rows.size();
  }
  double seconds_of(const std::vector<Launch>& launches) {
    synchronize();
    const Clock::time_point start = Clock::now();
    for (const Launch& one : launches) launch(one);
    synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  DeviceInfo info_;
  const PlantedFault* fault_ = nullptr;
  const RopeCase* case_ = nullptr;
  FaultMemory memory_;
};

const char* name(PlantedFault::Device device) {
  return device == PlantedFault::Device::kBoth  ? "both"
         : device == PlantedFault::Device::kCpu ? "cpu"
                                                : "cuda";
}

std::string complaint_about(const PlantedFault& fault, const Result& result) {
  if (fault.launch == nullptr) {
    return result.status == Status::kPassed
               ? ""
               : std::string("a right kernel is ") + name(result.status) + ": " + result.reason;
  }
  if (result.status != Status::kFailed)
    return std::string("not caught, the row is ") + name(result.status) +
           (result.reason.empty() ? "" : ": " + result.reason);
  if (result.reason.find(fault.reason) == std::string::npos)
    return std::string("caught by something else than \"") + fault.reason + "\"";
  if (result.diagnosis.name != fault.diagnosis)
    return std::string("should be diagnosed as ") + fault.diagnosis;
  return "";
}

}  // namespace

std::vector<SelftestRow> selftest(std::unique_ptr<Backend> device,
                                  std::span<const PlantedFault> faults) {
  const bool host = device->is_host();
  auto owned = std::make_unique<PlantedDevice>(std::move(device));
  PlantedDevice& planted = *owned;
  const std::unique_ptr<Runner> runner = make_runner(std::move(owned));
  std::vector<SelftestRow> rows;
  const auto run = [&](const PlantedFault& fault, const std::string& title) {
    const RopeCase c = fault.c();
    planted.plant(&fault, &c);
    const Result result = runner->run({c}, RunOptions{}).at(0);
    planted.plant(nullptr, nullptr);
    SelftestRow row;
    row.fault = title;
    row.text = fault.text;
    row.device = name(fault.device);
    row.caught = result.status == Status::kFailed;
    row.by = result.reason;
    row.diagnosis = result.diagnosis.name;
    row.complaint = complaint_about(fault, result);
    row.ok = row.complaint.empty();
    rows.push_back(std::move(row));
  };
  for (const PlantedFault& fault : faults) {
    const auto elsewhere = host ? PlantedFault::Device::kCuda : PlantedFault::Device::kCpu;
    if (fault.device != elsewhere) run(fault, fault.name);
  }
  for (const PlantedFault& right : right_kernels()) run(right, std::string("right: ") + right.name);
  rows.push_back(find_planted_slowdown(*runner));
  return rows;
}

}  // namespace rope_bench
