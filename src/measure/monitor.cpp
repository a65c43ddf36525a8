#include "src/measure/monitor.h"

namespace rope_bench {

std::string throttle_text(uint64_t reasons) {
  constexpr struct {
    uint64_t bit;
    const char* text;
  } kReasons[] = {{0x4, "software power cap"},
                  {0x8, "hardware slowdown"},
                  {0x20, "software thermal slowdown"},
                  {0x40, "hardware thermal slowdown"},
                  {0x80, "hardware power brake"}};
  std::string text;
  for (const auto& [bit, reason] : kReasons) {
    if ((reasons & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason);
  }
  return text;
}

}  // namespace rope_bench
