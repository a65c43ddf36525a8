#include "src/measure/machine.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace rope_bench {
namespace {

// The number after `key` in a file of "key: number kB" lines, in bytes; 0 if there is none.
int64_t kilobytes_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
  }
  return 0;
}

// A file that holds one number; `missing` if it does not.
int64_t number_in(const char* path, int64_t missing) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : missing;
}

struct Caches {
  int64_t level2 = 0, last_level = 0;
};

// Of the first core.
Caches caches() {
  Caches found;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream file(folder + "size");
    int64_t size = 0;
    char unit = 0;
    if (!(file >> size)) break;
    file >> unit;
    const int64_t bytes = unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
    if (number_in((folder + "level").c_str(), 0) == 2) found.level2 = bytes;
    found.last_level = std::max(found.last_level, bytes);
  }
  if (found.last_level == 0) found.last_level = int64_t{32} << 20;
  return found;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string vector_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "baseline";
}

}  // namespace

CpuFacts cpu_facts() {
  const Caches found = caches();
  return {cpu_model(), vector_instructions(), found.last_level, found.level2,
          kilobytes_of("/proc/meminfo", "MemTotal:")};
}

size_t available_memory_bytes() {
  constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  int64_t available = kilobytes_of("/proc/meminfo", "MemAvailable:");
  if (available == 0) available = kUnlimited;
  const int64_t limit =
      number_in("/sys/fs/cgroup/memory.max", kUnlimited);  // "max" reads as no number
  if (limit != kUnlimited) {
    available = std::min(
        available, std::max<int64_t>(0, limit - number_in("/sys/fs/cgroup/memory.current", 0)));
  }
  return static_cast<size_t>(available);
}

}  // namespace rope_bench
