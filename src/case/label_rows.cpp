#include "src/case/label_rows.h"

#include <algorithm>

namespace rope_bench {
namespace {

const LabelRow kLabels[] = {
    {"hbm", "the data of a launch comes from device memory", "compare GB/s with the measured peak"},
    {"dram", "the data of a launch comes from main memory", "compare GB/s with the measured peak"},
    {"mixed", "warm sets, part of which the cache keeps",
     "quote it as neither; change `tokens`, or measure cold"},
    {"l2", "warm sets that fit half of L2 (CPU: of all cores' own L2)",
     "say nothing about memory with it"},
    {"llc", "warm sets that fit half of the CPU's last-level cache",
     "say nothing about memory with it"},
    {"latency-bound", "the limit itself reaches under 60 % of the measured peak",
     "look at the time and at `limit_ratio`, not at GB/s"},
    {"suspect", "a cold row above the measured peak",
     "do not quote it: some of it came from a cache, or the peak was measured under load"},
    {"unstable", "the interval of `limit_ratio` is wider than `precision` asks, or clocks were low",
     "leave the device to this run alone, or raise `max_time_s`"},
    {"slowed", "a slowdown was planted: scratch launches are timed too",
     "never quote it; compare it with a row without, to see a gate fire"},
    {"table-warm", "cold tensors, but sets share table rows and positions",
     "compare with rows that have the label too; fewer table rows would fit each set"},
    {"identity", "every position is 0: nothing turns, a kernel that does nothing passes",
     "give it an offset: `--set position_offset=100`"},
    {"sampled",
     "more elements than are compared in double: a sample was, and the device judged all",
     "nothing: to compare all of them, run fewer tokens"},
    {"invariant-violated", "the check passed, and an invariant of rotations says otherwise",
     "distrust the check or the kernel: `-v` says which invariant"},
    {"symmetric-pairs", "in every pair x = y: signs and orders of a pair cannot be told apart",
     "use other `data`: these cannot tell every wrong kernel from a right one"},
    {"identical-heads", "all heads of a token are the same: heads may be exchanged",
     "use other `data`: these cannot tell every wrong kernel from a right one"},
};

}  // namespace

std::span<const LabelRow> label_rows() { return kLabels; }

std::string label_note(const Result& row, const std::string& label) {
  const auto known = std::find_if(std::begin(kLabels), std::end(kLabels),
                                  [&](const LabelRow& l) { return label == l.name; });
  if (known == std::end(kLabels)) return label;
  const auto own = std::find_if(row.label_reasons.begin(), row.label_reasons.end(),
                                [&](const auto& reason) { return reason.first == label; });
  const std::string why = own == row.label_reasons.end() ? known->meaning : own->second;
  return label + ": " + why + "; " + known->advice;
}

}  // namespace rope_bench
