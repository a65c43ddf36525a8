// What must hold for any bytes that are given as a model's config.json.
#ifndef ROPE_BENCH_TESTS_FUZZ_HF_TARGET_H_
#define ROPE_BENCH_TESTS_FUZZ_HF_TARGET_H_

#include <string>

namespace rope_bench {

enum class Outcome { kCases, kRefused };

// Reads the text as --hf does. It must give cases with notes of one line each, or a ConfigError of
// one line that is not empty; for anything else prints the text and aborts. `how` picks what else
// the command line says.
Outcome read_hostile_config(const std::string& text, unsigned how);

}  // namespace rope_bench

#endif  // ROPE_BENCH_TESTS_FUZZ_HF_TARGET_H_
