#include "src/math/token_sample.h"

#include <algorithm>
#include <set>

#include "src/math/hash.h"

namespace rope_bench {

std::vector<int64_t> sample_tokens(const RopeCase& c, const TokenRows& rows, int64_t most,
                                   std::optional<int64_t> also) {
  std::vector<int64_t> real;
  real.reserve(rows.table_rows.size());
  for (size_t t = 0; t < rows.table_rows.size(); ++t) {
    if (rows.table_rows[t] >= 0) real.push_back(static_cast<int64_t>(t));
  }
  if (static_cast<int64_t>(real.size()) <= most) return real;
  const auto row = [&](int64_t a, int64_t b) { return rows.table_rows[a] < rows.table_rows[b]; };
  const auto [smallest, largest] = std::minmax_element(real.begin(), real.end(), row);
  std::set<int64_t> chosen = {real.front(), real.back(), *smallest, *largest};
  // Where an index of 16 bits begins again.
  for (const int64_t token : {int64_t{65535}, int64_t{65536}, also.value_or(-1)}) {
    if (std::binary_search(real.begin(), real.end(), token)) chosen.insert(token);
  }
  for (uint64_t i = 0; static_cast<int64_t>(chosen.size()) < most; ++i)
    chosen.insert(real[combine(c.seed, i) % real.size()]);
  return {chosen.begin(), chosen.end()};
}

}  // namespace rope_bench
