// Which of the rows looked at are wrong: operands, heads, tokens, a single dim.
#ifndef ROPE_BENCH_SRC_MATH_WHERE_H_
#define ROPE_BENCH_SRC_MATH_WHERE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "src/math/row_judge.h"

namespace rope_bench::judging {

// Of a sample, so that it knows the ends of a range and nothing in between.
class Where {
 public:
  void add(const std::string& operand, int64_t token, int64_t head, const Tally& tally);
  // " (in k alone, in heads 2 of k)"; empty if every row is wrong.
  std::string text() const;

 private:
  struct Seen {
    std::set<int64_t> heads, all_heads;
  };
  std::map<std::string, Seen> seen_;
  std::set<int64_t> tokens_, wrong_tokens_, dims_;
  bool one_dim_ = true;
};

}  // namespace rope_bench::judging

#endif  // ROPE_BENCH_SRC_MATH_WHERE_H_
