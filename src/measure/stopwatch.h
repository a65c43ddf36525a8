// Times a variant and its limit on the sets of a case, sample by sample.
#ifndef ROPE_BENCH_SRC_MEASURE_STOPWATCH_H_
#define ROPE_BENCH_SRC_MEASURE_STOPWATCH_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/case/result.h"
#include "src/measure/backend.h"
#include "src/measure/case_buffers.h"
#include "src/measure/plan.h"
#include "src/measure/statistics.h"

namespace rope_bench {

// One implementation on the sets of a case: a short and a long window.
class Timed {
 public:
  Timed(Backend& backend, CaseBuffers& buffers, const RopeVariant& variant, const Plan& plan,
        CacheMode cache);

  // Records the windows anew, after the sets moved.
  void record();
  // Each window once, untimed.
  void warm_up();
  // Seconds per launch: the difference of the long and the short window over the launches between
  // them, so that what is paid once per window cancels. Sets are restored and, if cold, the cache
  // is flushed before each. Several pairs of windows where the plan says so: their mean.
  double sample();
  // Units of the last long window that are wrong, over all sets it used. `on_wrong` as in
  // MeasureOptions.
  int64_t judge_last_window(const std::function<void(int set, int repeats)>& on_wrong);
  // Median seconds of one launch alone, cold or warm as the case is.
  double isolated();
  double host_cost();
  const RopeVariant& variant() const { return *variant_; }

 private:
  double difference();
  void prepare(int launches);

  Backend* backend_;
  CaseBuffers* buffers_;
  const RopeVariant* variant_;
  Plan plan_;
  CacheMode cache_;
  std::unique_ptr<Window> short_, long_;
};

// After sets moved: addresses and code are found slowly at first, and a GPU goes on with freed
// memory for some ms. On an H200 two turns of all windows are enough, one is not.
void warm_up(const Backend& backend, std::initializer_list<Timed*> timed);

// Timed launches are judged in the first round, in every so many, and in the last.
constexpr int64_t kJudgeEvery = 16;

struct MeasureOptions {
  CacheMode cache = CacheMode::kCold;
  StoppingRule stop;
  bool judge = true;  // check timed launches
  std::function<bool()> interrupted;
  // A set is wrong after so many timed launches on it, and still as they left it.
  std::function<void(int set, int repeats)> on_wrong;
};

struct Measurement {
  Timing timing;
  int64_t wrong_units = 0;  // in timed launches
  int64_t judged_launches = 0;
};

// Interleaves samples of the variant with samples of the fastest limit (A B B A) until the rule
// stops. Every round has its sets elsewhere in memory, because time depends on where they lie;
// rounds off the device's clocks are left out. nullopt if interrupted before enough rounds.
std::optional<Measurement> measure(Backend& backend, CaseBuffers& buffers,
                                   const RopeVariant& variant, const Plan& plan,
                                   const MeasureOptions& options);

// The fastest member of the device's limit family for these sets.
const RopeVariant* fastest_limit(Backend& backend, CaseBuffers& buffers, const Plan& plan,
                                 CacheMode cache);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_STOPWATCH_H_
