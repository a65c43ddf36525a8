// What is known about the positions of a case without writing them all down.
#ifndef ROPE_BENCH_SRC_CASE_POSITIONS_H_
#define ROPE_BENCH_SRC_CASE_POSITIONS_H_

#include <cstdint>
#include <vector>

#include "src/case/rope_case.h"

namespace rope_bench {

// Tokens of the longest sequence.
int64_t longest_sequence(const RopeCase& c);

// Op varlen_split_rope: all tokens of a sequence go on from one drawn start.
bool draws_starts(const RopeCase& c);

// varlen.source cu_seqlens: the position of each sequence's first token (0 for an empty one), as
// kernels are given them; and whether any is not 0.
std::vector<int64_t> sequence_starts_of(const RopeCase& c);
bool has_sequence_starts(const RopeCase& c);

// Where faults of positions show, below `bound` and from `least` on, those that matter most first:
// the last row, 0 and 1, both sides of 256, 4096 and 65536, a million, every power of two and the
// number before it. Unsorted, some of them repeated. {least} if there is nothing between the two.
std::vector<int64_t> boundary_positions(int64_t least, int64_t bound);

// Random, decode and boundary positions lie in [positions.offset, drawn_bound): the table's rows as
// far as they are known before drawing, that is rope.table.rows, else the larger of
// model.max_position and rope.seq_len, else the length of the longest sequence.
int64_t drawn_bound(const RopeCase& c);

// Largest position that may occur, without drawing any; -1 without tokens.
int64_t largest_possible_position(const RopeCase& c);

// Distinct table rows that a run reads: one per distinct position, or with rope.axes one per token.
// Exact up to 2^28 tokens; above that, for drawn positions, the number that there can be.
int64_t distinct_rows(const RopeCase& c);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_POSITIONS_H_
