// A parameter set read out: frequencies, table rows with their errors, and what it means for a
// model.
#ifndef ROPE_BENCH_SRC_MATH_READING_H_
#define ROPE_BENCH_SRC_MATH_READING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/case/rope_case.h"
#include "src/math/scaling.h"

namespace rope_bench {

// Where a token is: one position, or one per axis.
using Coordinates = std::vector<int64_t>;

struct ReadRow {
  std::string table;  // of the method; "table" where it has just one
  Coordinates at;
  int64_t row = 0;  // which `at` leads to
  // [rotary_dim / 2] each: in double for a table of f32, else as stored.
  std::vector<double> cosines, sines;
  double max_abs = 0;       // largest |stored - exact|
  double query_factor = 1;  // of rope.query_scale
};

struct TableReading {
  RopeCase c;
  Frequencies frequencies;
  std::vector<double> inv_freq;  // of the table's angle
  std::vector<ReadRow> rows;     // every table at every place
};

// Throws ConfigError as frequencies_of(), and for a number of coordinates that is not the case's.
TableReading read_table(const RopeCase& c, const std::vector<Coordinates>& places);

// |other - one| / |one| where it is largest; infinite where only `one` stands still.
struct LargestDifference {
  double relative = 0;
  size_t pair = 0;
};
LargestDifference largest_difference(const std::vector<double>& one,
                                     const std::vector<double>& other);

// What people ask about a parameter set. Wavelengths in positions per turn.
struct RopeFacts {
  std::optional<double> shortest_wavelength, longest_wavelength;  // of pairs that turn at all
  int64_t still_pairs = 0;                                        // frequency 0
  std::optional<int64_t> trained_length;    // original length of the method, else max_position
  std::optional<int64_t> incomplete_pairs;  // no full turn within it, still ones included
  std::optional<int64_t> slowest_repeats;   // first whole position at or past a turn of the slowest
  // Largest |cos| or |sin| error of float32 angles over the last 4096 positions below max_position.
  std::optional<double> float32_error;
};
// The length that RopeFacts calls trained.
std::optional<int64_t> trained_length_of(const RopeCase& c);
RopeFacts facts_of(const RopeCase& c, const Frequencies& f);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_READING_H_
