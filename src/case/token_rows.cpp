#include "src/case/token_rows.h"

#include <numeric>

namespace rope_bench {

TokenRows token_rows_of(const RopeCase& c) {
  TokenRows rows;
  rows.table_rows = kernel_positions_of(c);
  rows.out_rows.assign(rows.table_rows.size(), -1);
  const std::vector<int64_t> lengths = sequence_lengths_of(c);
  rows.sequence_tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  const int64_t padded_length = is_padded(c) ? padded_length_of(c) : 0;
  size_t token = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    for (int64_t s = 0; s < lengths[b]; ++s, ++token) {
      if (rows.table_rows[token] < 0) continue;
      rows.out_rows[token] =
          is_padded(c) ? static_cast<int64_t>(b) * padded_length + s : static_cast<int64_t>(token);
    }
  }
  return rows;
}

}  // namespace rope_bench
