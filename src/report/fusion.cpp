#include "src/report/fusion.h"

#include <map>

#include "src/report/numbers.h"

namespace rope_bench {
namespace {

constexpr const char* kUnfused = "unfused";

// The name of the case but for its variant, and the state of the caches.
std::string family(const Result& row) {
  const RopeCase& c = row.rope_case;
  const std::string part = fmt::format("/{}/{}/", name(c.op), c.variant);
  std::string key = c.name;
  const size_t at = key.find(part);
  if (at != std::string::npos) key.replace(at, part.size(), fmt::format("/{}//", name(c.op)));
  return key + "/" + name(row.cache);
}

double percent(double part, double of) { return of > 0 ? 100 * part / of : 0; }

}  // namespace

double FusionPair::saved_us() const {
  return unfused->timing->median_us - fused->timing->median_us;
}
double FusionPair::saved_time_percent() const {
  return percent(saved_us(), unfused->timing->median_us);
}
int64_t FusionPair::saved_bytes() const { return unfused->bytes.total() - fused->bytes.total(); }
double FusionPair::saved_bytes_percent() const {
  return percent(static_cast<double>(saved_bytes()), static_cast<double>(unfused->bytes.total()));
}

std::vector<FusionPair> fusion_pairs(const RunReport& report) {
  std::map<std::string, const Result*> unfused;
  for (const Result& row : report.results) {
    if (row.timing && row.rope_case.variant == kUnfused) unfused.emplace(family(row), &row);
  }
  std::vector<FusionPair> pairs;
  if (unfused.empty()) return pairs;
  for (const Result& row : report.results) {
    if (!row.timing || row.rope_case.variant == kUnfused) continue;
    const auto found = unfused.find(family(row));
    if (found != unfused.end()) pairs.push_back({&row, found->second});
  }
  return pairs;
}

std::string fusion_lines(const RunReport& report) {
  std::string lines;
  for (const FusionPair& pair : fusion_pairs(report)) {
    const auto cost = [](const Result& row) {
      return fmt::format("{} us, {}", significant4(row.timing->median_us),
                         human_bytes(row.bytes.total()));
    };
    const std::string cache = pair.fused->rope_case.measure.cache.size() > 1
                                  ? fmt::format(" ({})", name(pair.fused->cache))
                                  : "";
    const int64_t bytes = pair.saved_bytes();
    lines += fmt::format("{}{}: {}; unfused {}: saves {} us ({} %), {}{} ({} %)\n",
                         pair.fused->rope_case.name, cache, cost(*pair.fused), cost(*pair.unfused),
                         significant4(pair.saved_us()), decimals<1>(pair.saved_time_percent()),
                         bytes < 0 ? "-" : "", human_bytes(bytes < 0 ? -bytes : bytes),
                         decimals<1>(pair.saved_bytes_percent()));
  }
  return lines;
}

}  // namespace rope_bench
