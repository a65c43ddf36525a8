#include "src/math/scaling_check.h"

#include "src/case/errors.h"
#include "src/math/scaling.h"

namespace rope_bench {
namespace {

constexpr int64_t kMostDrawn = 1 << 16;

}  // namespace

std::string ScalingCheck::operator()(const RopeCase& c) {
  const PositionKind kind = c.positions.kind;
  const bool drawn = kind == PositionKind::kDecode || kind == PositionKind::kRandom;
  if (drawn && !c.rope.seq_len && c.num_tokens() > kMostDrawn) return {};
  if (!unknown_scaling(c).empty()) return {};
  const Rope& rope = c.rope;
  const Key key(rope.scaling.type, rope.scaling.params, rope.theta, rope.proportion,
                rope.rotary_dim, rope.axes.kind, c.max_position,
                rope.scaling.params.contains("length_rule") ? seq_len_of(c) : 0);
  const auto [found, is_new] = known_.try_emplace(key);
  if (!is_new) return found->second;
  try {
    frequencies_of(c);
  } catch (const ConfigError& error) {
    found->second = error.what();
  }
  return found->second;
}

}  // namespace rope_bench
