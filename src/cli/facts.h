// What a parameter set means for a model, for `describe`.
#ifndef ROPE_BENCH_SRC_CLI_FACTS_H_
#define ROPE_BENCH_SRC_CLI_FACTS_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "src/math/reading.h"

namespace rope_bench {

// Facts of many cases, each distinct parameter set worked out once.
class FactSheet {
 public:
  // Null for a case that is skipped or whose scaling is not known.
  const RopeFacts* of(const RopeCase& c);
  // A paragraph for each parameter set met so far.
  std::string text() const;

 private:
  struct Entry {
    std::string first_case;
    size_t cases = 0;
    size_t num_pairs = 0;
    std::optional<int64_t> max_position;
    Frequencies frequencies;
    RopeFacts facts;
  };
  std::vector<Entry> entries_;
};

nlohmann::ordered_json facts_json(const RopeFacts* facts);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CLI_FACTS_H_
