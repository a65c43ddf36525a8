#ifndef ROPE_BENCH_SRC_REPORT_TOOL_INFO_H_
#define ROPE_BENCH_SRC_REPORT_TOOL_INFO_H_

#include <string>

namespace rope_bench {

// Which build made the numbers.
struct ToolInfo {
  std::string name = "rope-bench";
  std::string version;
  std::string commit;  // empty outside a checkout
  bool dirty = false;
  std::string compiler;
  std::string cuda_toolkit;  // empty: built without CUDA
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_REPORT_TOOL_INFO_H_
