#include "src/report/timing_details.h"

#include "fmt/format.h"
#include "src/case/label_rows.h"
#include "src/case/rounds.h"
#include "src/report/numbers.h"

namespace rope_bench {
namespace {

// "26.5 us (empty 4.1)"
std::string beside_empty(const std::optional<double>& time, const std::optional<double>& empty) {
  if (!time) return "unknown";
  return fmt::format("{} us{}", significant4(*time),
                     empty ? fmt::format(" (empty {})", significant4(*empty)) : "");
}

std::string timing_lines(const Timing& t, const DeviceInfo& device) {
  std::string text = fmt::format("  time {}, isolated {}, host launch {}\n",
                                 beside_empty(t.median_us, device.floor_us),
                                 beside_empty(t.isolated_us, device.floor_isolated_us),
                                 beside_empty(t.host_launch_us, device.floor_host_launch_us));
  const char* interval = t.num_rounds < kRoundsOfAnInterval ? "range of rounds" : "95 % interval";
  text += fmt::format(
      "  {} {} to {} us, p5 {}, p95 {}, min {}, MAD {}; first tenth {}, last tenth {}\n", interval,
      significant4(t.ci_low_us), significant4(t.ci_high_us), significant4(t.p5_us),
      significant4(t.p95_us), significant4(t.min_us), significant4(t.mad_us),
      significant4(t.first_tenth_us), significant4(t.last_tenth_us));
  if (t.t_sol_us) {
    text += fmt::format("  speed of light {} us, {} % of it reached\n", significant4(*t.t_sol_us),
                        significant4(t.percent_of_t_sol.value_or(0)));
  }
  if (t.limit_us) {
    text += fmt::format("  limit {} us ({}), limit_ratio {:.4f}", significant4(*t.limit_us),
                        t.limit_variant, t.limit_ratio.value_or(0));
    if (t.limit_ratio_ci_low && t.limit_ratio_ci_high) {
      text += fmt::format(", {} {:.4f} to {:.4f}", interval, *t.limit_ratio_ci_low,
                          *t.limit_ratio_ci_high);
    }
    text += "\n";
  }
  text += fmt::format("  {}, stopped by {}", counted(static_cast<size_t>(t.num_rounds), "round"),
                      t.stopped_by);
  if (t.num_dropped > 0 || !t.dropped_reason.empty())
    text += fmt::format("; dropped {}: {}", t.num_dropped, t.dropped_reason);
  if (t.sm_clock_mhz && t.memory_clock_mhz)
    text += fmt::format("; SM {} MHz, memory {} MHz", *t.sm_clock_mhz, *t.memory_clock_mhz);
  return text + "\n";
}

}  // namespace

std::string timing_text(const Result& row, const DeviceInfo& device) {
  std::string text = fmt::format("{}: {}\n", row.rope_case.name, name(row.status));
  if (row.timing) text += timing_lines(*row.timing, device);
  for (const std::string& label : row.labels) text += "  " + label_note(row, label) + "\n";
  return text;
}

}  // namespace rope_bench
