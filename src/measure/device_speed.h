// What a device can do at best, whatever the case: its empty launches and its bandwidth.
#ifndef ROPE_BENCH_SRC_MEASURE_DEVICE_SPEED_H_
#define ROPE_BENCH_SRC_MEASURE_DEVICE_SPEED_H_

#include "src/measure/backend.h"

namespace rope_bench {

// Seconds of one launch in a row of many, as Timed has it, nothing restored or flushed in between:
// median of 15 samples.
double measure_slope(Backend& backend, const Launch& launch);

// What an empty launch costs by each way of timing, in seconds.
struct Floor {
  double slope = 0, isolated = 0, host = 0;
};
Floor measure_floor(Backend& backend);
// Best bandwidth of the limit family on a large contiguous case, bytes read + written, GB/s.
double measure_peak(Backend& backend);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MEASURE_DEVICE_SPEED_H_
