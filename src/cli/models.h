// Models side by side, one row for each parameter set: `describe` of several --hf.
#ifndef ROPE_BENCH_SRC_CLI_MODELS_H_
#define ROPE_BENCH_SRC_CLI_MODELS_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "src/case/config.h"

namespace rope_bench {

// Cases of one set that differ in nothing of the rotation (tokens ...) are one row.
nlohmann::ordered_json models_json(const LoadedConfig& config);
std::string models_text(const LoadedConfig& config);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_MODELS_H_
