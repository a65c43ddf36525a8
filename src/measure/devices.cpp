// Which devices there are, and opening one.
#include <charconv>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/measure/backend.h"
#include "src/measure/machine.h"
#include "src/measure/runner.h"

namespace rope_bench {

#ifndef ROPE_BENCH_HAVE_CUDA
int count_cuda_devices(std::string* why_none) {
  *why_none = "this build has no CUDA kernels";
  return 0;
}
std::string cuda_device_model(int) { return {}; }
std::unique_ptr<Backend> make_cuda_backend(int, std::vector<std::string>*) {
  throw DeviceError("this build has no CUDA kernels");
}
#endif

DeviceChoice parse_device(const std::string& text) {
  using Kind = DeviceChoice::Kind;
  if (text == "auto") return {Kind::kAuto, 0};
  if (text == "cpu") return {Kind::kCpu, 0};
  if (text == "cuda") return {Kind::kCuda, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    int index = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, index);
    if (error == std::errc{} && stop == end && index >= 0) return {Kind::kCuda, index};
  }
  const std::string near = nearest(text.substr(0, text.find(':')), {"auto", "cpu", "cuda"});
  throw ConfigError("--device " + text +
                    ": unknown device; allowed: auto, cpu, cuda, cuda:N (N from 0)" +
                    (near.empty() ? "" : "; nearest: " + near));
}

std::unique_ptr<Runner> Runner::open(const DeviceChoice& choice, std::vector<std::string>* notes) {
  return make_runner(open_backend(choice, notes));
}

std::unique_ptr<Backend> open_backend(const DeviceChoice& choice, std::vector<std::string>* notes) {
  if (choice.kind == DeviceChoice::Kind::kCpu) return make_cpu_backend();
  std::string why;
  const int count = count_cuda_devices(&why);
  if (count > 0 && choice.index >= count) {
    why = "there are " + std::to_string(count) +
          " CUDA devices, cuda:" + std::to_string(choice.index) + " is not one";
  } else if (count > 0) {
    try {
      return make_cuda_backend(choice.index, notes);
    } catch (const DeviceError& error) {
      why = error.what();
    }
  }
  if (choice.kind == DeviceChoice::Kind::kCuda) throw NoGpu("no usable GPU: " + why);
  notes->push_back("no usable GPU (" + why + "): running on the CPU");
  return make_cpu_backend();
}

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> devices;
  std::string why;
  const int count = count_cuda_devices(&why);
  for (int i = 0; i < count; ++i)
    devices.push_back({"cuda:" + std::to_string(i), cuda_device_model(i), ""});
  if (count == 0) devices.push_back({"cuda", "", why});
  devices.push_back({"cpu", cpu_facts().model, ""});
  return devices;
}

}  // namespace rope_bench
