// Which instruction set the CPU kernels use, and the sizes at which they change their ways. Set by
// detection; tests and measurements may override it while no kernel runs.
#ifndef ROPE_BENCH_KERNELS_CPU_TUNING_H_
#define ROPE_BENCH_KERNELS_CPU_TUNING_H_

#include <cstdint>

namespace rope_bench {

enum class CpuIsa { kBaseline, kAvx2, kAvx512, kAvx512Bf16 };
inline constexpr CpuIsa kCpuIsas[] = {CpuIsa::kBaseline, CpuIsa::kAvx2, CpuIsa::kAvx512,
                                      CpuIsa::kAvx512Bf16};

const char* name(CpuIsa isa);
bool is_supported(CpuIsa isa);  // by this build and this machine

struct CpuTuning {
  CpuIsa isa;                 // the widest supported one
  int64_t grain_bytes;        // moved by a thread at least, else it is not woken
  int64_t stream_from_bytes;  // out of place: tensors from this size on bypass the caches
};
CpuTuning& cpu_tuning();

}  // namespace rope_bench

#endif  // ROPE_BENCH_KERNELS_CPU_TUNING_H_
