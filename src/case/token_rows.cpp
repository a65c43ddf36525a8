#include "src/case/token_rows.h"

#include <algorithm>
#include <numeric>

#include "src/case/positions.h"

namespace rope_bench {

TokenRows token_rows_of(const RopeCase& c) {
  const auto tokens = static_cast<size_t>(c.num_tokens());
  TokenRows rows;
  rows.sequence_tokens = c.seq_lens.empty()
                             ? c.num_tokens()
                             : std::accumulate(c.seq_lens.begin(), c.seq_lens.end(), int64_t{0});
  const auto first_padding = static_cast<std::ptrdiff_t>(rows.sequence_tokens);
  rows.table_rows = kernel_positions_of(c);
  rows.table_rows.resize(tokens, -1);
  std::fill(rows.table_rows.begin() + first_padding, rows.table_rows.end(), -1);

  rows.out_rows.assign(tokens, -1);
  const auto end = rows.out_rows.begin() + first_padding;
  if (!c.varlen.padded_output || c.seq_lens.empty()) {
    std::iota(rows.out_rows.begin(), end, 0);
    return rows;
  }
  const int64_t longest = longest_sequence(c);
  auto row = rows.out_rows.begin();
  for (size_t b = 0; b < c.seq_lens.size(); ++b) {
    std::iota(row, row + c.seq_lens[b], static_cast<int64_t>(b) * longest);
    row += c.seq_lens[b];
  }
  return rows;
}

}  // namespace rope_bench
