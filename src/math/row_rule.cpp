#include "src/math/row_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/axes.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

constexpr int64_t kPositions = int64_t{1} << 31;

void require_small(const RopeCase& c, const std::vector<std::vector<int64_t>>& positions) {
  const std::vector<std::string> names = axis_names(c.rope.axes);
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    for (const int64_t position : positions[axis]) {
      if (position >= 0 && position < kPositions) continue;
      throw ConfigError(
          fmt::format("position {} on axis {} is out of range, allowed: 0 to {}", position,
                      axis < names.size() ? names[axis] : std::to_string(axis), kPositions - 1));
    }
  }
}

}  // namespace

std::shared_ptr<const RowRule> row_rule_of(const RopeCase& c) {
  RowRule rule{c.rope.reversed, axis_of_pairs(c), {}};
  if (!rule.axis_of_pair.empty()) rule.positions = axis_positions_of(c);
  if (rule == RowRule()) return nullptr;
  require_small(c, rule.positions);
  return std::make_shared<const RowRule>(std::move(rule));
}

std::shared_ptr<const RowRule> row_rule_at(const RopeCase& c, const std::vector<int64_t>& at) {
  RowRule rule{c.rope.reversed, axis_of_pairs(c), {}};
  if (rule.axis_of_pair.empty()) rule.axis_of_pair.assign(c.rope.rotary_dim / 2, 0);
  for (const int64_t position : at) rule.positions.push_back({position});
  require_small(c, rule.positions);
  return std::make_shared<const RowRule>(std::move(rule));
}

double query_factor(const RopeCase& c, int64_t position) {
  if (!c.rope.query_scale) return 1;
  const QueryScale& scale = *c.rope.query_scale;
  const int64_t lengths = position / scale.original_max_position_embeddings;
  return 1 + scale.beta * std::log(1 + static_cast<double>(lengths));
}

}  // namespace rope_bench
