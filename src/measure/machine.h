// Facts about the host: read from /proc and /sys, with plain fallbacks.
#ifndef ROPE_BENCH_SRC_MEASURE_MACHINE_H_
#define ROPE_BENCH_SRC_MEASURE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace rope_bench {

struct CpuFacts {
  std::string model;
  std::string instructions;  // the widest vector instructions: "avx512", "avx2", "baseline"
  int64_t last_level_cache_bytes = 0;  // of one core; 32 MiB if unknown
  int64_t own_l2_bytes = 0;            // the cache of level 2 of one core; 0 if unknown
  int64_t memory_bytes = 0;
};
CpuFacts cpu_facts();

// MemAvailable, within the limit of the control group.
size_t available_memory_bytes();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_MACHINE_H_
