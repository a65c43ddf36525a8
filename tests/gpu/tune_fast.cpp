// How the choices in kernels/cuda/config.cpp were made: limit_ratio of `fast` or `on_the_fly` for
// every packet, block size, number of heads and prefetch over token counts, on the GPU present. Not
// a test; run by hand: tune_fast [op=rope] [table=1] [dtype=bf16] [pairing=neox] [rotary_dim=128]
// [in_place=1] [span=head] [offset=0] [ahead=0] [tokens=1,64,1024] [limits=0]. offset: of
// positions. ahead: for kernels that bring tensors of later blocks into L2, those with packets of
// 16 bytes that form angles or have packed tokens, and norms over rows; the others ignore it.
// limits=1 prints the members of the limit family too
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "kernels/cuda/launchers.h"
#include "src/case/token_rows.h"
#include "src/math/table.h"
#include "src/measure/device_speed.h"
#include "src/measure/stopwatch.h"

namespace rope_bench {
namespace {

bool uses_table = true;
int ahead = 0;

template <int kBytes, int kThreads, int kHeads, bool kPrefetch>
int32_t launch_config(const RopeKernelArgs* args) {
  RopeKernelArgs a = *args;
  if (!uses_table) a.table = nullptr;
  device::VectorConfig config = device::general_config(a, {false, false, false});
  config.packet_bytes = kBytes;
  config.threads = kThreads;
  config.heads = kHeads;
  config.prefetch = kPrefetch;
  config.ahead = ahead;
  return device::launch_fast_with(a, config);
}

struct Row {
  std::string name;
  int bytes;
  RopeVariant variant;
};

template <int kBytes, int kThreads, int kHeads, bool kPrefetch>
void add_row(std::vector<Row>& rows) {
  Row r{std::to_string(kBytes) + "B x" + std::to_string(kThreads) + " h" + std::to_string(kHeads) +
            (kPrefetch ? " prefetch" : ""),
        kBytes,
        {}};
  size_t count = 0;
  r.variant = rope_cuda_variants(&count)[0];
  r.variant.launch = launch_config<kBytes, kThreads, kHeads, kPrefetch>;
  rows.push_back(r);
}

template <int kBytes, int kThreads, int kHeads = 1>
void add(std::vector<Row>& rows) {
  add_row<kBytes, kThreads, kHeads, true>(rows);
  if (uses_table) add_row<kBytes, kThreads, kHeads, false>(rows);
}

int tune(int argc, char** argv) {
  std::map<std::string, std::string> given = {{"op", "rope"},
                                              {"table", "1"},
                                              {"dtype", "bf16"},
                                              {"pairing", "neox"},
                                              {"rotary_dim", "128"},
                                              {"in_place", "1"},
                                              {"span", "head"},
                                              {"limits", "0"},
                                              {"offset", "0"},
                                              {"ahead", "0"},
                                              {"tokens", "1,8,64,256,512,1024,2048,4096,16384"}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || given.count(argument.substr(0, equals)) == 0) {
      std::fprintf(stderr, "tune_fast: what is %s?\n", argv[i]);
      return 2;
    }
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  RopeCase c;
  const std::string dtype = given["dtype"], op = given["op"];
  constexpr Op kOps[] = {Op::kRope,          Op::kSplitRope,
                         Op::kNormSplitRope, Op::kVarlenSplitRope,
                         Op::kRopeBackward,  Op::kSplitRopeBackward};
  for (const Op one : kOps) {
    if (op == name(one)) c.op = one;
  }
  if (op != name(c.op)) {
    std::fprintf(stderr, "tune_fast: what op is %s?\n", op.c_str());
    return 2;
  }
  c.dtype = dtype == "f32" ? Dtype::kF32 : dtype == "f16" ? Dtype::kF16 : Dtype::kBF16;
  c.rope.pairing = given["pairing"] == "gptj" ? Pairing::kGptj : Pairing::kNeox;
  c.num_heads = 32;
  c.num_kv_heads = 8;
  c.head_dim = 128;
  c.rope.rotary_dim = std::atoi(given["rotary_dim"].c_str());
  c.layout.in_place = given["in_place"] == "1";
  c.norm.span_row = given["span"] == "row";
  c.max_position = 32768;
  c.positions.offset = std::atoll(given["offset"].c_str());
  uses_table = given["table"] == "1";
  ahead = std::atoi(given["ahead"].c_str());
  const device::Stages stages = {true, c.op == Op::kNormSplitRope, true};

  std::vector<Row> rows;
  add<16, 64>(rows);
  add<16, 128>(rows);
  add<16, 256>(rows);
  add<16, 512>(rows);
  add<16, 64, 2>(rows);
  add<16, 128, 2>(rows);
  add<16, 256, 2>(rows);
  add<8, 128>(rows);
  add<8, 256>(rows);
  add<4, 256>(rows);
  std::vector<std::string> notes;
  const std::unique_ptr<Backend> backend = make_cuda_backend(0, &notes);
  const double peak = measure_peak(*backend), floor = measure_floor(*backend).slope;
  std::printf("peak %.0f GB/s, floor %.2f us;", peak, floor * 1e6);
  for (const auto& [key, value] : given) std::printf(" %s=%s", key.c_str(), value.c_str());
  std::printf("\n%-22s", "limit_ratio");
  std::vector<int64_t> token_counts;
  std::istringstream list(given["tokens"]);
  for (std::string one; std::getline(list, one, ',');)
    token_counts.push_back(std::atoll(one.c_str()));
  std::vector<std::vector<double>> ratios(rows.size());
  std::vector<double> limits;
  std::vector<std::string> limit_names;
  TableCache tables;
  for (const int64_t tokens : token_counts) {
    // Of 8 sequences, where tokens are packed.
    c.tokens = tokens;
    if (c.op == Op::kVarlenSplitRope) {
      c.batch = tokens < 8 ? 1 : 8;
      c.tokens = tokens / c.batch;
    }
    const TokenRows token_rows = token_rows_of(c);
    const auto table = tables.get(c, 8);
    PlanInput input;
    input.bytes = bytes_of(c, uses_table);
    input.own = layout_of(c, uses_table, table_rows_used(token_rows), true);
    input.shared = layout_of(c, uses_table, table_rows_used(token_rows), false);
    input.set_budget = backend->set_budget();
    input.cache_bytes = backend->info().l2_bytes;
    input.peak_gb_s = peak;
    input.floor_s = floor;
    const Plan plan = make_plan(input).quick();
    CaseBuffers buffers(*backend, c, uses_table, *table, token_rows, plan.num_sets,
                        plan.own_tables);
    const RopeVariant* limit_row = fastest_limit(*backend, buffers, plan, CacheMode::kCold);
    Timed limit(*backend, buffers, *limit_row, plan, CacheMode::kCold);
    std::vector<double> limit_times;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!device::packet_fits(buffers.args(0), stages, rows[i].bytes)) {
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
    if (given["limits"] == "1") {
      std::printf("\n");
      for (const RopeVariant& one : backend->limits()) {
        Timed t(*backend, buffers, one, plan, CacheMode::kCold);
        std::vector<double> samples;
        t.sample();
        for (int i = 0; i < 15; ++i) samples.push_back(t.sample());
        std::printf("  limit %s %.3f\n", one.name, median(samples) * 1e6);
      }
    }
    limits.push_back(median(limit_times) * 1e6);
    limit_names.push_back(limit_row->name);
    std::printf(" %9lld", static_cast<long long>(tokens));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    std::printf("\n%-22s", rows[i].name.c_str());
    for (const double ratio : ratios[i]) std::printf(" %9.3f", ratio);
  }
  std::printf("\n%-22s", "limit us");
  for (const double limit : limits) std::printf(" %9.2f", limit);
  std::printf("\n");
  for (const std::string& name : limit_names) std::printf("%s ", name.c_str());
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace rope_bench

int main(int argc, char** argv) { return rope_bench::tune(argc, argv); }
