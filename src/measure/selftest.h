// Whether the check catches what it must: runs of wrong kernels, through the path of every run.
#ifndef ROPE_BENCH_SRC_MEASURE_SELFTEST_H_
#define ROPE_BENCH_SRC_MEASURE_SELFTEST_H_

#include <string>
#include <vector>

#include "src/measure/backend.h"
#include "src/measure/selftest_faults.h"

namespace rope_bench {

struct SelftestRow {
  std::string fault, text;
  std::string device;     // "both", "cpu", "cuda": where the fault exists
  bool ok = false;        // a fault was caught as it must be; a right kernel passed
  bool caught = false;    // the run failed; a slowdown was seen
  std::string by;         // what the run said
  std::string diagnosis;  // what it found
  std::string complaint;  // what is wrong with that; empty if ok
};

// Every fault of the device, the right kernel of each case they are planted in ("right: plain"),
// and a planted slowdown of the right kernel ("slowdown: 25 %").
std::vector<SelftestRow> selftest(std::unique_ptr<Backend> device,
                                  std::span<const PlantedFault> faults = planted_faults());

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_SELFTEST_H_
