// Position axes (rope.axes): a token has one position per axis, and a rule says which of them
// drives which pair.
#ifndef ROPE_BENCH_SRC_CASE_AXES_H_
#define ROPE_BENCH_SRC_CASE_AXES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/case/rope_case.h"

namespace rope_bench {

// In the order of rope.axes.section, of rope.axes.positions and of positions on the command line.
// Empty for kind none.
std::vector<std::string> axis_names(const Axes& axes);

// 1 for kind none.
int64_t num_axes(const Axes& axes);

// The axis of every pair, [rotary_dim / 2]; empty for kind none. The section must have passed
// check_axes(). vision_2d without a section is two halves.
std::vector<uint8_t> axis_of_pairs(const RopeCase& c);

// Pairs of the rotation that a scaling method is asked for: rotary_dim / 2. The two halves of
// vision_2d are rotations of their own, each from the highest frequency down.
int64_t scaled_pairs(const RopeCase& c);

// Positions of every axis, [num_axes][num_tokens]. Sequential, decode and a plain list of positions
// are the same on every axis, random ones are drawn for each axis by itself.
std::vector<std::vector<int64_t>> axis_positions_of(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_AXES_H_
