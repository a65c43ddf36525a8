// The stopwatch against kernels whose time is known, on a GPU. Label `gpu`; run alone.
#include "src/measure/stopwatch.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "src/measure/device_speed.h"
#include "src/measure/forwarding_backend.h"
#include "src/measure/runner.h"
#include "tests/gpu/spin.h"

namespace rope_bench {
namespace {

std::unique_ptr<Backend> gpu() {
  std::vector<std::string> notes;
  auto backend = make_cuda_backend(0, &notes);
  for (const std::string& note : notes) std::printf("note: %s\n", note.c_str());
  return backend;
}

int32_t accept(const RopeKernelArgs*, char*, size_t) { return 0; }

// `fast` of every op, and all that there is, is this launch.
class PlantedGpu : public ForwardingBackend {
 public:
  explicit PlantedGpu(int32_t (*start)(const RopeKernelArgs*)) : ForwardingBackend(gpu()) {
    for (const RopeVariant& row : ForwardingBackend::variants()) {
      if (std::string(row.name) != "fast") continue;
      rows_.push_back(row);
      rows_.back().launch = start;
      rows_.back().why_not = accept;
    }
  }
  std::span<const RopeVariant> variants() const override { return rows_; }

 private:
  std::vector<RopeVariant> rows_;
};

RopeCase llama_case(int64_t tokens) {
  RopeCase c;
  c.name = "case";
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.rope.rotary_dim = 128;
  c.tokens = tokens;
  c.positions.offset = 3;
  c.max_position = 16384;
  return c;
}

Result run_one(Runner& runner, const RopeCase& c) {
  const std::vector<Result> rows = runner.run({c}, RunOptions{});
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at(0).status, Status::kPassed) << rows.at(0).reason;
  EXPECT_TRUE(rows.at(0).timing) << rows.at(0).reason;
  return rows.at(0);
}

// slope(spin t) - slope(spin 0) = t within 0.2 us. t from cycles over the clock measured just
// before.
TEST(GpuStopwatch, TheSlopeOfASpinIsItsTime) {
  const auto backend = gpu();
  RopeVariant spin{};
  spin.name = "spin";
  spin.launch = testing::launch_spin;
  Launch launch{&spin, {}};
  launch.args.stream = backend->stream();
  testing::spin_clock_hz(backend->stream());  // brings the clocks up
  for (const double us : {2.0, 3.0, 5.0, 20.0}) {
    const double hz = testing::spin_clock_hz(backend->stream());
    ASSERT_GT(hz, 1e8);
    if (backend->monitor() != nullptr && backend->monitor()->read().sm_clock_mhz) {
      EXPECT_NEAR(hz * 1e-6, *backend->monitor()->read().sm_clock_mhz, 0.02 * hz * 1e-6);
    }
    testing::set_spin_cycles(0);
    const double nothing = measure_slope(*backend, launch);
    testing::set_spin_cycles(std::llround(us * 1e-6 * hz));
    const double spun = measure_slope(*backend, launch);
    std::printf("spin %.0f us: slope %.3f us above that of spin 0, %.3f us (SM %.0f MHz)\n", us,
                (spun - nothing) * 1e6, nothing * 1e6, hz * 1e-6);
    EXPECT_NEAR((spun - nothing) * 1e6, us, 0.2);
  }
}

// The same through all of a row: sets, restoring, flushing, rounds.
TEST(GpuStopwatch, ARowOfASpinHasItsTime) {
  auto planted = std::make_unique<PlantedGpu>(testing::launch_spin);
  void* stream = planted->stream();
  const auto runner = make_runner(std::move(planted));
  RunOptions options;
  options.check = false;  // a spin rotates nothing
  const auto row_us = [&](double us) {
    testing::set_spin_cycles(std::llround(us * 1e-6 * testing::spin_clock_hz(stream)));
    const std::vector<Result> rows = runner->run({llama_case(64)}, options);
    return rows.at(0).timing ? rows.at(0).timing->median_us : -1;
  };
  row_us(0);  // clocks up
  const double nothing = row_us(0);
  for (const double us : {3.0, 20.0}) {
    const double spun = row_us(us);
    std::printf("row of a spin of %.0f us: %.3f us above that of spin 0\n", us, spun - nothing);
    EXPECT_NEAR(spun - nothing, us, 0.2);
  }
}

TEST(GpuStopwatch, TheFloorRepeats) {
  const auto backend = gpu();
  measure_floor(*backend);
  std::vector<double> floors;
  for (int i = 0; i < 5; ++i) floors.push_back(measure_floor(*backend).slope * 1e6);
  const auto [low, high] = std::minmax_element(floors.begin(), floors.end());
  std::printf("floor %.3f to %.3f us\n", *low, *high);
  EXPECT_LE(*high - *low, 0.1);
  EXPECT_GT(*low, 0);
}

// C145: forward and backward, however long it is measured.
TEST(GpuStopwatch, MinTimeDoesNotChangeTheTime) {
  const auto runner = make_runner(gpu());
  for (const Op op : {Op::kRope, Op::kRopeBackward}) {
    std::vector<double> times;
    for (const double ms : {1.0, 20.0, 200.0}) {
      RopeCase c = llama_case(4096);
      c.op = op;
      c.measure.min_time_ms = ms;
      times.push_back(run_one(*runner, c).timing->median_us);
    }
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    std::printf("%s: %.3f to %.3f us\n", name(op), *low, *high);
    EXPECT_LE(*high, *low * 1.03) << name(op);
  }
}

// Cold is cold: 1024 tokens are 10 MB a set, two of them fit any L2 of 40 MB.
TEST(GpuStopwatch, ColdIsSlowerThanWarmWhereL2HoldsTheSets) {
  auto backend = gpu();
  const int64_t l2 = backend->info().l2_bytes;
  if (l2 < int64_t{40} << 20) GTEST_SKIP() << "L2 holds no two sets";
  const auto runner = make_runner(std::move(backend));
  std::map<CacheMode, Result> rows;
  for (const CacheMode cache : {CacheMode::kCold, CacheMode::kWarm}) {
    RopeCase c = llama_case(1024);
    c.measure.cache = {cache};
    rows.emplace(cache, run_one(*runner, c));
  }
  const double cold = rows.at(CacheMode::kCold).timing->median_us,
               warm = rows.at(CacheMode::kWarm).timing->median_us;
  std::printf("cold %.3f us, warm %.3f us\n", cold, warm);
  EXPECT_GT(cold, 1.1 * warm);
  EXPECT_EQ(rows.at(CacheMode::kWarm).labels.front(), "l2");
  EXPECT_EQ(rows.at(CacheMode::kCold).labels.front(), "hbm");
}

// C157: one long sequence with 63 short ones beside one sequence of as many tokens.
TEST(GpuStopwatch, UnequalSequencesCostWhatTheirTokensCost) {
  const auto runner = make_runner(gpu());
  const auto time = [&](std::vector<int64_t> lengths) {
    RopeCase c = llama_case(0);
    c.op = Op::kVarlenSplitRope;
    c.layout.in_place = false;
    c.varlen.given = true;
    c.seq_lens = std::move(lengths);
    c.batch = static_cast<int64_t>(c.seq_lens.size());
    return run_one(*runner, c).timing->median_us;
  };
  std::vector<int64_t> unequal(64, 16);
  unequal[0] = 8192;
  const double one = time({9200}), many = time(unequal);
  std::printf("9200 tokens in one sequence %.3f us, in 64 unequal ones %.3f us\n", one, many);
  EXPECT_LT(many, 2 * one);
  EXPECT_LT(one, 2 * many);
}

// The peak that rows are held against is within 2 % of the best plain copy, side by side.
TEST(GpuStopwatch, TheMeasuredPeakIsThatOfACopyOrMore) {
  const auto backend = gpu();
  const auto stream = static_cast<cudaStream_t>(backend->stream());
  constexpr size_t kBytes = size_t{1} << 30;
  const DeviceMemory from(*backend, kBytes), to(*backend, kBytes);
  backend->fill({from.data(), 0, 1, kBytes}, 0x3f);
  cudaEvent_t start, end;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  const auto gb_s = [&](auto&& copy) {
    float best = 1e9f;
    for (int i = 0; i < 10; ++i) {
      float ms = 0;
      cudaEventRecord(start, stream);
      for (int k = 0; k < 4; ++k) copy();
      cudaEventRecord(end, stream);
      EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
      cudaEventElapsedTime(&ms, start, end);
      best = std::min(best, ms / 4);
    }
    return 2 * static_cast<double>(kBytes) / best * 1e-6;
  };
  measure_peak(*backend);  // clocks up
  const double peak = measure_peak(*backend);
  const double memcpy_gb_s = gb_s(
      [&] { cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, stream); });
  const double kernel_gb_s =
      gb_s([&] { testing::launch_copy(to.data(), from.data(), kBytes, stream); });
  std::printf("measured peak %.0f GB/s, cudaMemcpy %.0f, plain copy kernel %.0f\n", peak,
              memcpy_gb_s, kernel_gb_s);
  EXPECT_GT(peak, 0.98 * std::max(memcpy_gb_s, kernel_gb_s));
  if (backend->info().theoretical_peak_gb_s) {
    EXPECT_LT(peak, *backend->info().theoretical_peak_gb_s);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
}

TEST(GpuStopwatch, ADefaultRowTakesAtMostASecond) {
  const auto runner = make_runner(gpu());
  run_one(*runner, llama_case(1));  // the first row also measures the device
  for (const int64_t tokens : {1, 64, 4096, 16384}) {
    const auto start = std::chrono::steady_clock::now();
    run_one(*runner, llama_case(tokens));
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("%ld tokens: %.2f s\n", static_cast<long>(tokens), spent.count());
    EXPECT_LE(spent.count(), 1.0) << tokens;
  }
}

// A kernel that never ends: the process does, without waiting for it.
TEST(GpuStopwatchDeathTest, AKernelThatHangsEndsTheRun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        testing::set_spin_cycles(int64_t{1} << 60);
        RopeCase c = llama_case(64);
        c.measure.timeout_s = 1;
        RunOptions options;
        options.measure = false;
        options.on_result = [](const Result& r, size_t, size_t) {
          std::fprintf(stderr, "<%s %s>", name(r.status), r.reason.c_str());
        };
        options.on_hang = [](bool) { std::_Exit(6); };
        make_runner(std::make_unique<PlantedGpu>(testing::launch_spin))->run({c}, options);
      },
      ::testing::ExitedWithCode(6), "<error hung: ");
}

}  // namespace
}  // namespace rope_bench
