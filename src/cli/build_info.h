// What this binary was built from. Regenerated at every build, written only when it changed.
#ifndef ROPE_BENCH_SRC_CLI_BUILD_INFO_H_
#define ROPE_BENCH_SRC_CLI_BUILD_INFO_H_

#include "src/report/tool_info.h"

namespace rope_bench {

ToolInfo build_info();

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_BUILD_INFO_H_
