// The result of one case in one cache mode: plain data. Formats only print it.
#ifndef ROPE_BENCH_SRC_CASE_RESULT_H_
#define ROPE_BENCH_SRC_CASE_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/ulp_histogram.h"

namespace rope_bench {

enum class Status { kPassed, kFailed, kUnchecked, kUnsupported, kOutOfMemory, kSkipped, kError };
const char* name(
    Status status);  // "passed", "failed", "unchecked", "unsupported", "out_of_memory", ...

// An element of an output, its error and what it is computed from.
struct WorstElement {
  std::string tensor;  // "q", "k", "v"
  int64_t token = 0, head = 0, dim = 0;
  double got = 0, want = 0;
  double ulp = 0;  // |got - want|, in the unit of Accuracy::max_ulp
  double bound_ratio =
      0;  // |got - want| over the bound of this element; infinite: wrong at any size
  // The pair's inputs and what they turn by, as judged (backward: the sine negated). A dim that
  // does not rotate has its own input x alone.
  double x = 0;
  std::optional<double> y, cosine, sine;
};

// "k[token 2, head 0, dim 3] is 1.5, should be 1.25".
std::string to_text(const WorstElement& element);

// Errors against the double reference. Max abs etc. are over all elements that the op changes.
struct Accuracy {
  double max_ulp = 0;          // max |got - want| in ULPs of the larger product, else of the result
  double tolerance_ulp = 0;    // what the op and dtype allow, in the same unit
  double max_bound_ratio = 0;  // max |got - want| / bound of that element; above 1 fails
  int64_t num_over = 0;  // elements above their bound, or not bit-identical where they must be
  double kernel_max_abs = 0, kernel_rms = 0, kernel_nmse = 0;
  double table_max_abs = 0;           // table against exact angles, rows in use
  double table_tolerance = 0;         // what its stated model allows
  double total_max_abs = 0;           // end to end against exact angles
  std::optional<WorstElement> worst;  // the element with the largest bound_ratio
  // The largest bound_ratios, falling, kMostWorstElements at most; worst is the first. Elements
  // without any error are not among them.
  std::vector<WorstElement> worst_elements;
  int64_t num_compared = 0;  // elements that have an error: not those that must keep their bits,
                             // nor a NaN or infinity that matches
  int64_t num_correctly_rounded = 0;                // of them: within half an ULP of the result
  UlpHistogram ulp_histogram;                       // of them, in the unit of max_ulp
  TableAngle reference_angle = TableAngle::kExact;  // of what kernel errors are against
  // Tokens compared in double, of those that are no padding. Fewer than all: a sample, and every
  // element was judged on the device.
  int64_t num_tokens_compared = 0;
  bool sampled = false;
};
inline constexpr size_t kMostWorstElements = 10;

struct Timing {
  double median_us = 0, ci_low_us = 0, ci_high_us = 0, p5_us = 0, p95_us = 0, min_us = 0;
  std::optional<double> isolated_us;     // one launch between two events
  std::optional<double> host_launch_us;  // what the calling thread pays
  int64_t num_rounds = 0;
  int64_t num_launches = 0;                      // timed launches of the variant, all rounds
  std::string stopped_by;                        // "precision", "max_time"
  double mad_us = 0;                             // median absolute deviation from the median
  double first_tenth_us = 0, last_tenth_us = 0;  // medians of these tenths of the rounds: drift
  int64_t num_dropped = 0;                       // rounds that do not count
  std::string dropped_reason;                    // why; also where they had to count
  bool left_clocks = false;  // rounds off their clocks had to count: there were hardly others
  std::optional<double> sm_clock_mhz, memory_clock_mhz;  // medians over rounds
  std::optional<double> limit_us;
  std::string limit_variant;
  // One value per round that counts, in the order in which they were measured; of the limit none
  // where there is no limit.
  std::vector<double> round_times_us, round_limits_us;
  std::optional<double> limit_ratio, limit_ratio_ci_low, limit_ratio_ci_high;
  double bandwidth_gb_s = 0;
  std::optional<double> percent_of_measured_peak, percent_of_theoretical_peak;
  // max(bytes at the measured peak, an empty launch), and its share of the median time.
  std::optional<double> t_sol_us, percent_of_t_sol;
  int num_sets = 0;
  bool table_warm = false;
  // What of the time was planted: percent of a launch that every launch takes longer.
  std::optional<double> injected_slowdown_percent;
};

// What a wrong output looks like (docs/validation.md); both empty where nothing is wrong.
struct Diagnosis {
  std::string name, text;
};

// A property of rotations, found in outputs alone (docs/invariants.md).
enum class Holds { kHeld, kViolated, kNotApplicable };
const char* name(Holds holds);  // "held", "violated", "not_applicable"
struct Invariant {
  std::string name;
  Holds holds = Holds::kNotApplicable;
  double value = 0, tolerance = 0;  // where it is nearest to being violated
  std::string reason;               // why it is not applicable
};

struct Result {
  RopeCase rope_case;
  std::string device;  // "cuda:0", "cpu"
  CacheMode cache = CacheMode::kCold;
  Status status = Status::kError;
  std::string reason;
  std::vector<std::string> labels;
  // Label, the figures behind it; of labels that have some.
  std::vector<std::pair<std::string, std::string>> label_reasons;
  ByteCount bytes;
  std::optional<Accuracy> accuracy;
  std::optional<Timing> timing;
  Diagnosis diagnosis;
  std::vector<Invariant> invariants;  // empty: nobody asked
};

// What the numbers of a run depend on.
struct DeviceInfo {
  std::string device;                                        // "cuda:0", "cpu"
  std::string model;                                         // "NVIDIA H200", the CPU's model name
  std::vector<std::pair<std::string, std::string>> details;  // printed by `env`, in order
  std::optional<double> theoretical_peak_gb_s;
  std::optional<double> measured_peak_gb_s;
  // An empty launch, timed as kernels are: as a slope, alone, by what it costs the host.
  std::optional<double> floor_us, floor_isolated_us, floor_host_launch_us;
  int64_t l2_bytes = 0;      // last-level cache on the CPU
  int64_t own_l2_bytes = 0;  // CPU: L2 caches of all cores in use; 0: none or unknown
  int64_t memory_bytes = 0;
};

struct RunReport {
  DeviceInfo device;
  std::string config_text;  // the config as resolved, JSON
  std::vector<std::string> command_line;
  size_t num_cases = 0, num_rows = 0;  // planned; fewer rows are in `results` if interrupted
  std::vector<Result> results;
  std::vector<std::string> notes;
  bool interrupted = false;
  int limit_family_version = 2;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_RESULT_H_
