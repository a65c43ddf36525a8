// Frequencies as whole turns, for variants that form their own angles.
#ifndef ROPE_BENCH_SRC_MATH_TURNS_H_
#define ROPE_BENCH_SRC_MATH_TURNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/case/rope_case.h"
#include "src/math/scaling.h"

namespace rope_bench {

// Empty, or why no angle of this case is position * frequency: methods whose frequencies change
// from one position to another.
std::string why_no_turns(const RopeCase& c, const Frequencies& f);

// Turns per position of each pair, [rotary_dim / 2], in units of 2^-64 turn, to the nearest: at
// position 2^31 a phase is within 2^-34 turn of the exact one. Negative ones of direction reversed
// wrap, as a phase does.
std::vector<uint64_t> turns_of(const RopeCase& c, const Frequencies& f);

// The same as float32 radians.
std::vector<float> radians_of(const RopeCase& c, const Frequencies& f);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TURNS_H_
