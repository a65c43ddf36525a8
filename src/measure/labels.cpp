#include "src/measure/labels.h"

#include <cstdio>

namespace rope_bench {
namespace {

// Below this share of the measured peak the limit itself waits for latency, not for bandwidth.
constexpr double kLatencyBound = 0.6;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

Label residency(const LabelInput& input) {
  const char* memory = input.is_host ? "dram" : "hbm";
  if (input.cache == CacheMode::kCold) return {memory, ""};
  // Warm sets are used in turn: together they are what the cache would have to keep.
  const double footprint = static_cast<double>(input.bytes.footprint()) * input.num_sets;
  const auto cache = static_cast<double>(input.device.l2_bytes);
  const auto own = static_cast<double>(input.device.own_l2_bytes);
  const std::string reason =
      "all sets together take " + number(100 * footprint / cache) + " % of the last-level cache";
  if (input.is_host && own > 0 && footprint <= own / 2) return {"l2", reason};
  if (footprint <= cache / 2) return {input.is_host ? "llc" : "l2", reason};
  return {footprint >= 2 * cache ? memory : "mixed", reason};
}

// Empty: stable.
std::string why_unstable(const LabelInput& input) {
  const Timing& t = input.timing;
  if (t.left_clocks) return t.dropped_reason;
  const bool has_ratio = t.limit_ratio.has_value();
  const double low = t.limit_ratio_ci_low.value_or(t.ci_low_us),
               high = t.limit_ratio_ci_high.value_or(t.ci_high_us),
               middle = t.limit_ratio.value_or(t.median_us);
  const double half_width = (high - low) / 2;
  if (half_width <= input.precision * middle) return {};
  std::string text = std::string("half of the interval of ") +
                     (has_ratio ? "limit_ratio" : "the time") + " is " +
                     number(100 * half_width / middle) + " % of it, precision asks for " +
                     number(100 * input.precision) + " %";
  if (!t.dropped_reason.empty()) text += "; " + t.dropped_reason;
  return text;
}

}  // namespace

std::vector<Label> labels_of(const LabelInput& input) {
  std::vector<Label> labels = {residency(input)};
  const Timing& t = input.timing;
  const double peak = input.device.measured_peak_gb_s.value_or(0);
  if (peak > 0 && t.limit_us) {
    const double limit_gb_s = static_cast<double>(input.bytes.total()) / (*t.limit_us * 1e-6) / 1e9;
    if (limit_gb_s < kLatencyBound * peak) {
      labels.push_back({"latency-bound", "the limit itself reaches " +
                                             number(100 * limit_gb_s / peak) +
                                             " % of the measured peak"});
    }
  }
  if (input.cache == CacheMode::kCold && peak > 0 && t.bandwidth_gb_s > peak) {
    labels.push_back({"suspect", "cold, and " + number(100 * t.bandwidth_gb_s / peak) +
                                     " % of the measured peak"});
  }
  if (const std::string why = why_unstable(input); !why.empty())
    labels.push_back({"unstable", why});
  if (input.cache == CacheMode::kCold && t.table_warm) labels.push_back({"table-warm", ""});
  return labels;
}

}  // namespace rope_bench
