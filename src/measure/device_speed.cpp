#include "src/measure/device_speed.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "src/measure/statistics.h"

namespace rope_bench {

namespace {

// Seconds of a launch that takes milliseconds; 0: none of the windows gave a positive time.
//
// On a GPU the median slope: without what starting a window costs. On a host starting costs nothing
// beside such a launch, and other programs make any window longer: the fastest one counts, and no
// difference, which a disturbed short window would make too small.
double seconds_of_long_launch(Backend& backend, const Launch& launch) {
  const bool is_host = backend.is_host();
  const int launches = is_host ? 2 : 4, wanted = is_host ? 4 : 5;
  const std::unique_ptr<Window> one = is_host ? nullptr : backend.record({launch});
  const std::unique_ptr<Window> more =
      backend.record(std::vector<Launch>(static_cast<size_t>(launches), launch));
  std::vector<double> samples;
  for (int i = 0; i < wanted; ++i) {
    const double start = one ? backend.time(*one) : 0;
    const double seconds = (backend.time(*more) - start) / (one ? launches - 1 : launches);
    if (seconds > 0) samples.push_back(seconds);
  }
  return samples.empty() ? 0 : quantile(samples, is_host ? 0 : 0.5);
}

}  // namespace

double measure_slope(Backend& backend, const Launch& launch) {
  constexpr int kShort = 20, kLong = 220;
  const std::unique_ptr<Window> short_window = backend.record(std::vector<Launch>(kShort, launch));
  const std::unique_ptr<Window> long_window = backend.record(std::vector<Launch>(kLong, launch));
  std::vector<double> samples;
  for (int i = 0; i < 15; ++i) {
    const double short_time = backend.time(*short_window);
    samples.push_back((backend.time(*long_window) - short_time) / (kLong - kShort));
  }
  return median(samples);
}

Floor measure_floor(Backend& backend) {
  Floor floor;
  floor.slope = std::max(0.0, measure_slope(backend, {}));
  std::vector<double> isolated, host;
  for (int i = 0; i < 15; ++i) {
    // As before a cold launch: behind other work, so that a GPU does not wait for the host.
    if (!backend.is_host()) backend.flush_cache();
    isolated.push_back(backend.time_isolated({}));
    host.push_back(backend.host_cost({}));
  }
  floor.isolated = median(isolated);
  floor.host = median(host);
  return floor;
}

double measure_peak(Backend& backend) {
  // Large against any cache, small against any memory. A host pays for every byte: there four
  // caches must do.
  const int64_t caches = int64_t{backend.is_host() ? 3 : 8} * backend.info().l2_bytes;
  const auto bytes =
      std::min<int64_t>(std::clamp<int64_t>(caches, int64_t{64} << 20, int64_t{1} << 30),
                        static_cast<int64_t>(backend.free_bytes() / 8));
  constexpr int kHeads = 32, kDim = 128;
  RopeKernelArgs args{};
  args.struct_size = sizeof(args);
  args.dtype = ROPE_DTYPE_BF16;
  args.head_dim = kDim;
  args.rotary_dim = kDim;
  args.num_tokens = bytes / (2 * kHeads * kDim) / 2;  // half of it q, half of it k
  const size_t tensor_bytes = static_cast<size_t>(args.num_tokens) * kHeads * kDim * 2;
  DeviceMemory from(backend, 2 * tensor_bytes), to(backend, 2 * tensor_bytes);
  DeviceMemory table(backend, kDim * sizeof(float));
  DeviceMemory positions(backend, static_cast<size_t>(args.num_tokens) * 4);
  backend.fill({from.data(), 0, 1, 2 * tensor_bytes}, 0x3f);
  backend.fill({to.data(), 0, 1, 2 * tensor_bytes}, 0x3f);
  backend.fill({table.data(), 0, 1, kDim * sizeof(float)}, 0);
  backend.fill({positions.data(), 0, 1, static_cast<size_t>(args.num_tokens) * 4}, 0);
  args.table = table.data();
  args.table_rows = 1;
  args.table_row_stride = kDim;
  args.positions = positions.data();
  args.position_bits = 32;
  args.stream = backend.stream();
  args.num_threads = backend.num_threads();
  const auto operand = [&](std::byte* in, std::byte* out) {
    RopeTensor t{};
    t.in = in;
    t.out = out;
    t.in_token_stride = t.out_token_stride = kHeads * kDim;
    t.in_head_stride = t.out_head_stride = kDim;
    t.num_heads = kHeads;
    return t;
  };
  double best = std::numeric_limits<double>::infinity();
  for (const bool in_place : {true, false}) {
    std::byte* out = in_place ? from.data() : to.data();
    args.q = operand(from.data(), out);
    args.k = operand(from.data() + tensor_bytes, out + tensor_bytes);
    for (const RopeVariant& row : backend.limits()) {
      const double seconds = seconds_of_long_launch(backend, {&row, args});
      if (seconds > 0) best = std::min(best, seconds);
    }
  }
  return 4 * static_cast<double>(tensor_bytes) / best / 1e9;
}

}  // namespace rope_bench
