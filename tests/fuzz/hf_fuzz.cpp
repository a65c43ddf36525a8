// libFuzzer's entry: build with clang, run as `hf_fuzz NEW_CORPUS tests/data/hf`.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/hf_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  rope_bench::read_hostile_config(text, size > 0 ? data[size / 2] : 0);
  return 0;
}
