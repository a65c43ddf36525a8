// A seeded choice of tokens, where looking at all of them would take too long.
#ifndef ROPE_BENCH_SRC_MATH_TOKEN_SAMPLE_H_
#define ROPE_BENCH_SRC_MATH_TOKEN_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/token_rows.h"

namespace rope_bench {

// Rising, at most `most` (but no fewer than the eight that are always in it): the first and the
// last token, those on both sides of 65536, those of the smallest and the largest row of the table,
// and `also`; the others from the case's seed. No padding. All tokens where there are no more.
std::vector<int64_t> sample_tokens(const RopeCase& c, const TokenRows& rows, int64_t most,
                                   std::optional<int64_t> also = std::nullopt);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_MATH_TOKEN_SAMPLE_H_
