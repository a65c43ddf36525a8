// Scaling methods, position axes and direction through the whole of a run, on the CPU kernels.
#include <gtest/gtest.h>

#include "src/case/config.h"
#include "src/math/scaling.h"
#include "src/measure/runner.h"

namespace rope_bench {
namespace {

std::vector<Result> run(const std::string& rope, const std::string& more = R"("tokens": 21)") {
  const std::string text = R"({"model": {"num_heads": 2, "num_kv_heads": 1, "head_dim": 32,
      "max_position": 4096}, "dtype": ["f32", "bf16"], "rope": )" +
                           rope + ", " + more + "}";
  const LoadedConfig config = parse_config(text, "t.json", scaling_catalog(), {});
  RunOptions options;
  options.measure = false;
  DeviceChoice cpu;
  cpu.kind = DeviceChoice::Kind::kCpu;
  std::vector<std::string> notes;
  return Runner::open(cpu, &notes)->run(config.cases, options);
}

void expect_passed(const std::string& rope, const std::string& more = R"("tokens": 21)") {
  const std::vector<Result> results = run(rope, more);
  ASSERT_EQ(results.size(), 2u);
  for (const Result& result : results) {
    EXPECT_EQ(result.status, Status::kPassed) << rope << ": " << result.reason;
  }
}

std::string numbers(int count) {
  std::string list = "[1.25";
  for (int i = 1; i < count; ++i) list += ", " + std::to_string(1.25 + i);
  return list + "]";
}

TEST(ScalingRun, CombinationsThatModelsShip) {
  const std::string yarn = R"("scaling": {"type": "yarn", "factor": 4,
      "original_max_position_embeddings": 1024})";
  expect_passed(R"({"axes": {"kind": "mrope", "section": [8, 4, 4]}, )" + yarn + "}",
                R"("tokens": 21, "positions": "random")");
  expect_passed(R"({"rotary_dim": 16, "scaling": {"type": "longrope",
      "original_max_position_embeddings": 16, "short_factor": )" +
                numbers(8) + R"(, "long_factor": )" + numbers(8) + "}}");
  expect_passed(
      R"({"pairing": "gptj", "rotary_dim": 16, "scaling": {"type": "ntk", "factor": 8}})");
}

TEST(ScalingRun, EveryKindOfAxes) {
  for (const char* axes :
       {R"({"kind": "mrope", "section": [8, 4, 4]})",
        R"({"kind": "mrope_interleaved", "section": [6, 5, 5]})",
        R"({"kind": "ernie", "section": [5, 5, 6]})",
        R"({"kind": "xdrope", "section": [4, 4, 4, 4]})", R"({"kind": "vision_2d"})"}) {
    for (const char* positions : {"sequential", "random", "decode"}) {
      expect_passed(std::string(R"({"axes": )") + axes + "}",
                    std::string(R"("tokens": 21, "positions": ")") + positions + "\"");
    }
  }
  expect_passed(R"({"axes": {"kind": "vision_2d", "positions": [[0, 1, 1, 9], [7, 0, 4000, 2]]}})",
                R"("seed": 1)");
}

TEST(ScalingRun, ReversedAndFloat32) {
  expect_passed(R"({"direction": "reversed"})", R"("tokens": 21, "positions": "random")");
  expect_passed(R"({"direction": "reversed", "table": {"angle": "float32"},
                    "axes": {"kind": "mrope", "section": [8, 4, 4]}})",
                R"("tokens": 21, "positions": "random")");
}

TEST(ScalingRun, WhatNoKernelReadsIsARowWithItsReason) {
  const auto reason = [](const std::string& rope) {
    const std::vector<Result> results = run(rope);
    EXPECT_EQ(results.at(0).status, Status::kUnsupported);
    return results.at(0).reason;
  };
  EXPECT_NE(reason(R"({"query_scale": {"beta": 0.1, "original_max_position_embeddings": 8}})")
                .find("second table"),
            std::string::npos);
  EXPECT_NE(reason(R"({"scaling": {"type": "fope"}})").find("one table per kv head"),
            std::string::npos);
  EXPECT_NE(reason(R"({"scaling": {"type": "dual_chunk", "chunk_size": 8}})").find("five tables"),
            std::string::npos);
}

}  // namespace
}  // namespace rope_bench
