// One row of cosines and sines at a time, from frequencies prepared once.
#ifndef ROPE_BENCH_SRC_MATH_ANGLES_H_
#define ROPE_BENCH_SRC_MATH_ANGLES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "src/math/row_rule.h"
#include "src/math/scaling.h"

namespace rope_bench {

// cos and sin of an angle of phase / 2^64 turns, within 2e-16. Arithmetic only: no libm.
void cos_sin_of_phase(uint64_t phase, double* cosine, double* sine);

// A frequency as turns per position, modulo one turn: units of 2^-64 turn and 32 bits more. Times a
// position it gives the angle's phase in wrapping integer arithmetic: reduction modulo a turn costs
// nothing and loses nothing. At position 2^24 the phase is as good as a long double frequency:
// 1e-12 rad.
struct PhaseStep {
  uint64_t units;
  uint64_t fraction;  // below 2^32: of a unit

  uint64_t at(uint64_t position) const {  // position < 2^32
    return position * units + ((position * fraction) >> 32);
  }
};
PhaseStep phase_step(long double radians_per_position);

class AngleRows {
 public:
  // Without a rule row t is position t.
  AngleRows(const Frequencies& f, TableAngle angle, std::shared_ptr<const RowRule> rule = nullptr);

  // [rotary_dim / 2] each, times the attention factor. `row` in [0, 2^31).
  void row(int64_t row, double* cosines, double* sines) const;

  // Which frequencies (0: the method's own, s: those of segment s - 1) meet which position.
  struct Place {
    size_t part;
    int64_t position;
  };
  Place place(int64_t row, int64_t pair) const;

  int64_t num_pairs() const { return num_pairs_; }

 private:
  struct Part {
    int64_t first_row;
    int64_t first_position;
    std::vector<PhaseStep> steps;  // exact angles
    std::vector<float> float32;    // float32 angles
  };
  void add_part(int64_t first_row, int64_t first_position, const std::vector<long double>& exact,
                const std::vector<float>& float32);

  Place place_of_row(int64_t row) const;
  // Pairs [begin, end), all of them at one place.
  void pairs(const Place& place, int64_t begin, int64_t end, double* cosines, double* sines) const;

  TableAngle angle_;
  double attention_factor_;
  int64_t num_pairs_;
  std::vector<Part> parts_;
  std::shared_ptr<const RowRule> rule_;
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_ANGLES_H_
