// The planted faults: one table. Each is a wrong kernel, made of a right one.
#ifndef ROPE_BENCH_SRC_MEASURE_SELFTEST_FAULTS_H_
#define ROPE_BENCH_SRC_MEASURE_SELFTEST_FAULTS_H_

#include <span>

#include "src/case/rope_case.h"
#include "src/measure/fault_launch.h"

namespace rope_bench {

struct PlantedFault {
  const char* name;
  const char* text;
  RopeCase (*c)();               // what it is run on
  void (*launch)(FaultLaunch&);  // null: the right kernel
  const char* reason;            // part of what a run must say
  const char* diagnosis;         // name that it must find
  enum class Device { kBoth, kCpu, kCuda } device = Device::kBoth;
};

std::span<const PlantedFault> planted_faults();

// The right kernel on every case that a fault is planted in: these must pass.
std::span<const PlantedFault> right_kernels();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_SELFTEST_FAULTS_H_
