// The kinds of position axes: one row each, and the rule from pair to axis.
#include "src/case/axes.h"

#include <fmt/format.h>

#include "src/case/checked_math.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

// Sections one behind the other.
size_t blocked(const std::vector<int64_t>& section, int64_t pair) {
  size_t axis = 0;
  for (int64_t end = section[0]; axis + 1 < section.size() && pair >= end;) end += section[++axis];
  return axis;
}

// h takes i % 3 == 1, w i % 3 == 2, each below three times its section, and t the rest.
size_t interleaved(const std::vector<int64_t>& section, int64_t pair) {
  const int64_t turn = pair % 3;
  return turn != 0 && pair < 3 * section[static_cast<size_t>(turn)] ? static_cast<size_t>(turn) : 0;
}

// h and w alternate, t takes what is left.
size_t alternating(const std::vector<int64_t>& section, int64_t pair) {
  return pair < section[0] + section[1] ? static_cast<size_t>(pair % 2) : 2;
}

struct AxesRule {
  const char* kind;
  std::vector<std::string> axes;
  size_t (*axis_of)(const std::vector<int64_t>& section, int64_t pair);
};

const std::vector<AxesRule>& rules() {
  static const std::vector<AxesRule> kRules = {{"mrope", {"t", "h", "w"}, blocked},
                                               {"mrope_interleaved", {"t", "h", "w"}, interleaved},
                                               {"ernie", {"h", "w", "t"}, alternating},
                                               {"xdrope", {"p", "w", "h", "t"}, blocked},
                                               {"vision_2d", {"h", "w"}, blocked}};
  return kRules;
}

const AxesRule* find_rule(const Axes& axes) {
  for (const AxesRule& rule : rules()) {
    if (axes.kind == rule.kind) return &rule;
  }
  return nullptr;
}

std::vector<int64_t> section_of(const RopeCase& c) {
  const int64_t pairs = c.rope.rotary_dim / 2;
  if (!c.rope.axes.section.empty()) return c.rope.axes.section;
  return {pairs / 2, pairs - pairs / 2};  // vision_2d: halves
}

// Why a section whose counts sum to the number of pairs is still not one of its kind.
std::string section_problem(const RopeCase& c, const std::vector<int64_t>& section) {
  const std::string& kind = c.rope.axes.kind;
  const std::string text = fmt::format("section [{}]", fmt::join(section, ", "));
  if (kind == "mrope_interleaved") {
    std::vector<int64_t> counts(3);
    for (const uint8_t axis : axis_of_pairs(c)) ++counts[axis];
    if (counts == section) return {};
    return fmt::format("{} is not what the interleaved rule gives: {}", text,
                       fmt::join(counts, "/"));
  }
  if (kind == "ernie" && section[0] != section[1]) {
    return fmt::format("{}: h {} and w {} alternate and must be equal", text, section[0],
                       section[1]);
  }
  if (kind == "vision_2d" && section[0] != section[1]) {
    return fmt::format("{}: h {} and w {} are halves of rotary_dim {} and must be equal", text,
                       section[0], section[1], c.rope.rotary_dim);
  }
  return {};
}

std::string lists_problem(const RopeCase& c, const AxesRule* rule) {
  const std::vector<std::vector<int64_t>>& lists = c.positions.axis_lists;
  if (lists.empty()) return {};
  if (!rule) return "axes positions with axes kind none";
  if (lists.size() != rule->axes.size()) {
    return fmt::format("axes {} has {} axes ({}), got {} lists of positions", c.rope.axes.kind,
                       rule->axes.size(), fmt::join(rule->axes, ", "), lists.size());
  }
  for (size_t axis = 1; axis < lists.size(); ++axis) {
    if (lists[axis].size() == lists[0].size()) continue;
    return fmt::format("{} positions of axis {}, but {} of axis {}", lists[axis].size(),
                       rule->axes[axis], lists[0].size(), rule->axes[0]);
  }
  return {};
}

}  // namespace

std::vector<std::string> axis_names(const Axes& axes) {
  const AxesRule* rule = find_rule(axes);
  return rule ? rule->axes : std::vector<std::string>();
}

int64_t num_axes(const Axes& axes) {
  const AxesRule* rule = find_rule(axes);
  return rule ? static_cast<int64_t>(rule->axes.size()) : 1;
}

std::vector<uint8_t> axis_of_pairs(const RopeCase& c) {
  std::vector<uint8_t> axes;
  const AxesRule* rule = find_rule(c.rope.axes);
  if (!rule) return axes;
  const std::vector<int64_t> section = section_of(c);
  for (int64_t i = 0; i < c.rope.rotary_dim / 2; ++i) {
    axes.push_back(static_cast<uint8_t>(rule->axis_of(section, i)));
  }
  return axes;
}

int64_t scaled_pairs(const RopeCase& c) {
  return c.rope.rotary_dim / (c.rope.axes.kind == "vision_2d" ? 4 : 2);
}

void check_axes(const RopeCase& c, Problems* problems) {
  const Axes& axes = c.rope.axes;
  const AxesRule* rule = find_rule(axes);
  if (const std::string text = lists_problem(c, rule); !text.empty()) {
    problems->push_back({text, {"rope.axes.positions", "rope.axes.kind"}});
  }
  if (axes.kind == "none" && axes.section.empty()) return;
  const auto problem = [&](std::string text) {
    problems->push_back({std::move(text),
                         {"rope.axes.section", "rope.axes.kind", "rope.rotary_dim",
                          "rope.partial_rotary_factor", "rope.pairing", "model.head_dim"}});
  };
  const std::string section = fmt::format("[{}]", fmt::join(axes.section, ", "));
  if (!rule) return problem(fmt::format("section {} with axes kind none", section));
  const bool halves = axes.section.empty() && axes.kind == "vision_2d";
  if (!halves && axes.section.size() != rule->axes.size()) {
    return problem(fmt::format("axes {} needs a section of {} counts ({}), got {}", axes.kind,
                               rule->axes.size(), fmt::join(rule->axes, ", "), section));
  }
  const int64_t pairs = c.rope.rotary_dim / 2;
  int64_t sum = 0;
  for (const int64_t count : axes.section) sum = saturating_add(sum, count);
  if (!halves && sum != pairs) {
    return problem(
        fmt::format("section {} sums to {}, but rotary_dim/2 is {}", section, sum, pairs));
  }
  if (std::string text = section_problem(c, section_of(c)); !text.empty()) problem(text);
}

}  // namespace rope_bench
