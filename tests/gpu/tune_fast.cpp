// How the table in kernels/cuda/config.cpp was made: limit_ratio of `fast` for every packet, block
// size and hint over token counts, on the GPU present. Not a test; run by hand: tune_fast [dtype]
// [pairing] [rotary_dim] [in_place 0|1] [tokens ...]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels/cuda/launchers.h"
#include "src/case/token_rows.h"
#include "src/math/table.h"
#include "src/measure/device_speed.h"
#include "src/measure/stopwatch.h"

namespace rope_bench {
namespace {

template <int kBytes, int kThreads, bool kPrefetch>
int32_t launch_config(const RopeKernelArgs* args) {
  device::VectorConfig config = device::fast_config(*args);
  config.packet_bytes = kBytes;
  config.threads = kThreads;
  config.prefetch = kPrefetch;
  return device::launch_fast_with(*args, config);
}

struct Row {
  std::string name;
  int bytes;
  RopeVariant variant;
};

template <int kBytes, int kThreads, bool kPrefetch>
Row row() {
  Row r{std::to_string(kBytes) + "B x" + std::to_string(kThreads) + (kPrefetch ? " prefetch" : ""),
        kBytes,
        {}};
  size_t count = 0;
  r.variant = rope_cuda_variants(&count)[0];
  r.variant.launch = launch_config<kBytes, kThreads, kPrefetch>;
  return r;
}

template <int kBytes, int kThreads>
void add(std::vector<Row>& rows) {
  rows.push_back(row<kBytes, kThreads, true>());
  rows.push_back(row<kBytes, kThreads, false>());
}

int tune(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  RopeCase c;
  const std::string dtype = argument(1, "bf16");
  c.dtype = dtype == "f32" ? Dtype::kF32 : dtype == "f16" ? Dtype::kF16 : Dtype::kBF16;
  c.rope.pairing = argument(2, "neox") == "gptj" ? Pairing::kGptj : Pairing::kNeox;
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.rope.rotary_dim = std::atoi(argument(3, "128").c_str());
  c.layout.in_place = argument(4, "1") == "1";
  c.max_position = 32768;

  std::vector<Row> rows;
  add<16, 64>(rows);
  add<16, 96>(rows);
  add<16, 128>(rows);
  add<16, 256>(rows);
  add<8, 128>(rows);
  add<8, 256>(rows);
  std::vector<std::string> notes;
  const std::unique_ptr<Backend> backend = make_cuda_backend(0, &notes);
  const double peak = measure_peak(*backend), floor = measure_floor(*backend).slope;
  std::printf("peak %.0f GB/s, floor %.2f us; %s %s r%d %s\n%-18s", peak, floor * 1e6,
              dtype.c_str(), info(c.rope.pairing).name, static_cast<int>(c.rope.rotary_dim),
              c.layout.in_place ? "in place" : "out of place", "limit_ratio");
  std::vector<int64_t> token_counts;
  for (int i = 5; i < argc; ++i) token_counts.push_back(std::atoll(argv[i]));
  if (token_counts.empty()) token_counts = {1, 8, 64, 256, 512, 1024, 2048, 4096, 16384};
  std::vector<std::vector<double>> ratios(rows.size());
  std::vector<double> limits;
  std::vector<std::string> limit_names;
  TableCache tables;
  for (const int64_t tokens : token_counts) {
    c.tokens = tokens;
    const TokenRows token_rows = token_rows_of(c);
    const auto table = tables.get(c, 8);
    PlanInput input;
    input.bytes = bytes_of(c);
    input.own = layout_of(c, true, tokens, true);
    input.shared = layout_of(c, true, tokens, false);
    input.set_budget = backend->set_budget();
    input.cache_bytes = backend->info().l2_bytes;
    input.peak_gb_s = peak;
    input.floor_s = floor;
    const Plan plan = make_plan(input);
    CaseBuffers buffers(*backend, c, true, *table, token_rows, plan.num_sets, plan.own_tables);
    const RopeVariant* limit_row = fastest_limit(*backend, buffers, plan, CacheMode::kCold);
    Timed limit(*backend, buffers, *limit_row, plan, CacheMode::kCold);
    std::vector<double> limit_times;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!device::packet_fits(buffers.args(0), {false, false, true}, rows[i].bytes)) {
        ratios[i].push_back(0);
        continue;
      }
      Timed timed(*backend, buffers, rows[i].variant, plan, CacheMode::kCold);
      std::vector<double> samples;
      for (int round = 0; round < 11; ++round) {
        const double limit_time = limit.sample();
        limit_times.push_back(limit_time);
        samples.push_back(limit_time / timed.sample());
      }
      ratios[i].push_back(median(samples));
    }
    limits.push_back(median(limit_times) * 1e6);
    limit_names.push_back(limit_row->name);
    std::printf(" %9lld", static_cast<long long>(tokens));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    std::printf("\n%-18s", rows[i].name.c_str());
    for (const double ratio : ratios[i]) std::printf(" %9.3f", ratio);
  }
  std::printf("\n%-18s", "limit us");
  for (const double limit : limits) std::printf(" %9.2f", limit);
  std::printf("\n");
  for (const std::string& name : limit_names) std::printf("%s ", name.c_str());
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace rope_bench

int main(int argc, char** argv) { return rope_bench::tune(argc, argv); }
