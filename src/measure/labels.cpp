#include "src/measure/labels.h"

namespace rope_bench {
namespace {

// Below this share of the measured peak the limit itself waits for latency, not for bandwidth.
constexpr double kLatencyBound = 0.6;

std::string residency(const LabelInput& input) {
  const char* memory = input.is_host ? "dram" : "hbm";
  if (input.cache == CacheMode::kCold) return memory;
  // Warm sets are used in turn: together they are what the cache would have to keep.
  const double footprint = static_cast<double>(input.bytes.total()) / 2 * input.num_sets;
  const auto cache = static_cast<double>(input.device.l2_bytes);
  if (footprint <= cache / 2) return input.is_host ? "llc" : "l2";
  return footprint >= 2 * cache ? memory : "mixed";
}

}  // namespace

std::vector<std::string> labels_of(const LabelInput& input) {
  std::vector<std::string> labels = {residency(input)};
  const Timing& t = input.timing;
  const double peak = input.device.measured_peak_gb_s.value_or(0);
  if (peak > 0 && t.limit_us) {
    const double limit_gb_s = static_cast<double>(input.bytes.total()) / (*t.limit_us * 1e-6) / 1e9;
    if (limit_gb_s < kLatencyBound * peak) labels.emplace_back("latency-bound");
  }
  if (input.cache == CacheMode::kCold && peak > 0 && t.bandwidth_gb_s > peak)
    labels.emplace_back("suspect");
  const double low = t.limit_ratio_ci_low.value_or(t.ci_low_us),
               high = t.limit_ratio_ci_high.value_or(t.ci_high_us);
  if ((high - low) / 2 > input.precision * t.limit_ratio.value_or(t.median_us))
    labels.emplace_back("unstable");
  if (input.cache == CacheMode::kCold && t.table_warm) labels.emplace_back("table-warm");
  return labels;
}

}  // namespace rope_bench
