// NVIDIA's management library, loaded at run time: the tool starts and measures without it.
#ifndef ROPE_BENCH_SRC_MEASURE_NVML_H_
#define ROPE_BENCH_SRC_MEASURE_NVML_H_

#include <memory>
#include <string>

#include "src/measure/monitor.h"

namespace rope_bench {

// `pci_bus_id`: of the device, as cudaDeviceGetPCIBusId writes it. `library`: what dlopen is given.
// Null with the reason where the library, a function that nothing works without, or the device is
// missing. Other functions may be missing: what they would say is absent.
std::unique_ptr<DeviceMonitor> open_nvml(const std::string& pci_bus_id, std::string* why_not,
                                         const char* library = "libnvidia-ml.so.1");

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_NVML_H_
