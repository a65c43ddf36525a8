#include "src/measure/ab.h"

#include <cmath>

namespace rope_bench {

std::optional<AbMeasurement> measure_ab(Backend& backend, CaseBuffers& buffers,
                                        const RopeVariant& a, const RopeVariant& b,
                                        const Plan& plan, const AbOptions& options) {
  Timed timed_a(backend, buffers, a, plan.as_it_is(), options.cache);
  Timed timed_b(backend, buffers, b, plan, options.cache);
  AbMeasurement result;
  const auto done = [&] {
    return static_cast<int64_t>(result.log_ratios.size()) >= options.rounds;
  };
  for (int64_t attempt = 0; !done() && attempt < 2 * options.rounds; ++attempt) {
    if (options.interrupted && options.interrupted()) return std::nullopt;
    if (attempt > 0) {
      buffers.move_sets();
      timed_a.record();
      timed_b.record();
    }
    warm_up(backend, {&timed_a, &timed_b});
    Timed& outer = attempt % 2 == 0 ? timed_a : timed_b;
    Timed& inner = attempt % 2 == 0 ? timed_b : timed_a;
    int64_t& outer_wrong = attempt % 2 == 0 ? result.a_wrong_units : result.b_wrong_units;
    int64_t& inner_wrong = attempt % 2 == 0 ? result.b_wrong_units : result.a_wrong_units;
    const bool is_last = static_cast<int64_t>(result.log_ratios.size()) + 1 == options.rounds;
    const bool due = options.judge && (attempt % kJudgeEvery == 0 || is_last);
    double outer_time = outer.sample(), inner_time = inner.sample();
    inner_time += inner.sample();
    if (due) inner_wrong += inner.judge_last_window({});
    outer_time += outer.sample();
    if (due) outer_wrong += outer.judge_last_window({});
    const double time_a = attempt % 2 == 0 ? outer_time : inner_time;
    const double time_b = attempt % 2 == 0 ? inner_time : outer_time;
    if (time_a <= 0 || time_b <= 0) continue;
    result.a_us.push_back(time_a / 2 * 1e6);
    result.b_us.push_back(time_b / 2 * 1e6);
    result.log_ratios.push_back(std::log(time_b / time_a));
  }
  return result;
}

}  // namespace rope_bench
