// What A/A measurements say of a case: its noise, and what a gate can find in it. Pure arithmetic.
#ifndef ROPE_BENCH_SRC_GATE_NOISE_H_
#define ROPE_BENCH_SRC_GATE_NOISE_H_

#include <cstddef>
#include <vector>

namespace rope_bench {

// Standard deviation; 0 of fewer than two values.
double standard_deviation(const std::vector<double>& values);

// Of one case, measured against itself.
struct AaSample {
  // A/A rounds in one process: times of both, a round each, every round in fresh buffers.
  std::vector<double> a_us, b_us;
  // Runs in processes of their own: ln of limit_ratio (or of time), and the logarithmic half-width
  // of its interval.
  std::vector<double> run_log, run_half;
};

struct Noise {
  double round = 0;     // sd of ln(b / a) over rounds: what `gate` has to see through
  double run = 0;       // sd over runs: what `compare` has to see through
  double layout = 0;    // sd of the rounds' levels beyond their noise: where buffers lie, and drift
  double interval = 0;  // half of the interval of a run, mean
};
Noise noise_of(const AaSample& sample);

// What a command makes of that noise, all shares.
struct Detection {
  double false_alarm = 0;  // chance that a case without any change is called slower
  double smallest = 0;     // the slowdown that is called so with 95 % power
  double margin = 0;       // the asked one, or the smallest with one false alarm in a thousand
};

inline constexpr double kPower = 0.95;
inline constexpr double kRareAlarm = 0.001;

// `rounds`: of the gate, first measurement alone; its rerun makes false alarms rarer still.
Detection gate_detection(const Noise& noise, size_t rounds, double margin);
// Of two runs, estimated from so many.
Detection compare_detection(const Noise& noise, size_t runs, double margin);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_GATE_NOISE_H_
