#include "kernels/cpu/tuning.h"

#include <unistd.h>

#include "kernels/cpu/isa_kernels.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rope_bench {
namespace {

#if defined(__x86_64__)
bool has_f16c() {  // not every compiler's __builtin_cpu_supports knows the name
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

int64_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return bytes;
#endif
  return int64_t{32} << 20;
}

CpuTuning detect() {
  // A launch that moves an eighth of the last cache level, which all cores share, cannot hope that
  // its output is still there when somebody reads it. 128 KiB keep a core busy for about as long as
  // a sleeping one takes to wake up.
  CpuTuning tuning{CpuIsa::kBaseline, 128 << 10, last_level_cache_bytes() / 8};
  for (CpuIsa isa : kCpuIsas) {
    if (is_supported(isa)) tuning.isa = isa;
  }
  return tuning;
}

}  // namespace

const char* name(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline:
      return "baseline";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvx512:
      return "avx512";
    case CpuIsa::kAvx512Bf16:
      return "avx512_bf16";
  }
  return "?";
}

bool is_supported(CpuIsa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case CpuIsa::kBaseline:
      return true;
    case CpuIsa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case CpuIsa::kAvx512:
      return is_supported(CpuIsa::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq");
    case CpuIsa::kAvx512Bf16:
      return is_supported(CpuIsa::kAvx512) && __builtin_cpu_supports("avx512bf16");
  }
#endif
  return isa == CpuIsa::kBaseline;
}

CpuTuning& cpu_tuning() {
  static CpuTuning tuning = detect();
  return tuning;
}

const IsaKernels& isa_kernels() {
#if defined(__x86_64__)
  switch (cpu_tuning().isa) {
    case CpuIsa::kAvx512Bf16:
      return kAvx512Bf16Kernels;
    case CpuIsa::kAvx512:
      return kAvx512Kernels;
    case CpuIsa::kAvx2:
      return kAvx2Kernels;
    case CpuIsa::kBaseline:
      break;
  }
#endif
  return kBaselineKernels;
}

}  // namespace rope_bench
