#include "src/math/input_warnings.h"

#include <algorithm>
#include <cstring>

#include "src/math/numeric.h"
#include "src/math/operands.h"

namespace rope_bench {
namespace {

constexpr int64_t kTokens = 16;  // inputs are alike from token to token

class Rows {
 public:
  Rows(const RopeCase& c, const RopeKernelArgs& launch) : c_(c), launch_(launch) {}

  const std::byte* at(const RopeTensor& t, int64_t token, int64_t head) const {
    const int64_t element = judging::in_start(launch_, t, token) + head * t.in_head_stride;
    return static_cast<const std::byte*>(t.in) + element * info(c_.dtype).size;
  }

  // Neither order nor sign of the elements of a pair can be seen.
  bool symmetric(const RopeTensor& t, int64_t token, int64_t head) const {
    const std::byte* row = at(t, token, head);
    const auto r = static_cast<int32_t>(c_.rope.rotary_dim);
    const auto equal = [&](Pairing pairing, int32_t pair) {
      return load_bits(c_.dtype, row, t.rotary_offset + pair_first(pairing, pair)) ==
             load_bits(c_.dtype, row, t.rotary_offset + pair_second(pairing, pair, r));
    };
    for (int32_t i = 0; i < r / 2; ++i) {
      if (!equal(c_.rope.pairing, i)) return false;
    }
    return true;
  }

  bool same_heads(const RopeTensor& t, int64_t token) const {
    const size_t bytes = static_cast<size_t>(c_.head_dim) * info(c_.dtype).size;
    for (int64_t head = 1; head < t.num_heads; ++head) {
      if (std::memcmp(at(t, token, 0), at(t, token, head), bytes) != 0) return false;
    }
    return true;
  }

 private:
  const RopeCase& c_;
  const RopeKernelArgs& launch_;
};

}  // namespace

std::vector<std::string> input_warnings(const RopeCase& c, const RopeKernelArgs& launch) {
  const Rows rows(c, launch);
  bool symmetric = true, same = true;
  for (const RopeTensor* t : {&launch.q, &launch.k}) {
    for (int64_t token = 0; token < std::min(kTokens, c.num_tokens()); ++token) {
      for (int64_t head = 0; head < t->num_heads && symmetric; ++head)
        symmetric = rows.symmetric(*t, token, head);
      same = same && rows.same_heads(*t, token);
    }
  }
  std::vector<std::string> labels;
  if (symmetric) labels.emplace_back("symmetric-pairs");
  if (same && std::max(c.num_heads, c.num_kv_heads) > 1) labels.emplace_back("identical-heads");
  return labels;
}

}  // namespace rope_bench
