// How much slower a case became, and whether that is more than a margin: pure arithmetic.
#ifndef ROPE_BENCH_SRC_COMPARE_CHANGE_H_
#define ROPE_BENCH_SRC_COMPARE_CHANGE_H_

namespace rope_bench {

// A positive quantity and its 95 % interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

// Shares of the base: 0.03 is 3 % slower, negative is faster. The 95 % interval beside it.
struct Change {
  double slowdown = 0, low = 0, high = 0;
};

// Of two independent estimates of a time. Errors of independent quotients add in squares on a
// logarithmic scale; the two sides of an interval stay apart.
Change change_of_time(const Estimate& base, const Estimate& now);
// Of two estimates of limit_ratio: a falling ratio is a slowdown.
Change change_of_ratio(const Estimate& base, const Estimate& now);

// A share: the larger one of `margin` and of what `floor_us` is of the base's time.
double effective_margin(double margin, double floor_us, double base_time_us);

enum class Beyond { kSlower, kFaster, kInside, kUnclear };
// kSlower, kFaster: the whole interval lies beyond the margin. kInside: none of it lies beyond on
// the slower side. kUnclear: the interval holds the margin.
Beyond judge_change(const Change& change, double margin);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_COMPARE_CHANGE_H_
