// Sections of multi-axis methods against the number of pairs.
#include <fmt/format.h>

#include "src/case/checked_math.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

// Pairs per position row that the interleaved rule hands out: h takes i % 3 == 1, w i % 3 == 2,
// each below three times its section, and t the rest.
std::vector<int64_t> interleaved_counts(const std::vector<int64_t>& section, int64_t pairs) {
  std::vector<int64_t> counts(3);
  for (int64_t i = 0; i < pairs; ++i) {
    const bool h = i % 3 == 1 && i < 3 * section[1];
    const bool w = i % 3 == 2 && i < 3 * section[2];
    ++counts[h ? 1 : w ? 2 : 0];
  }
  return counts;
}

struct AxesRule {
  const char* kind;
  size_t rows;  // entries of section
  const char* order;
};
constexpr AxesRule kAxesRules[] = {{"mrope", 3, "t, h, w"},
                                   {"mrope_interleaved", 3, "t, h, w"},
                                   {"ernie", 3, "h, w, t"},
                                   {"xdrope", 4, "four axes"},
                                   {"vision_2d", 2, "h, w"}};

}  // namespace

void check_axes(const RopeCase& c, Problems* problems) {
  const Axes& axes = c.rope.axes;
  if (axes.kind == "none" && axes.section.empty()) return;
  const auto problem = [&](std::string text) {
    problems->push_back({std::move(text),
                         {"rope.axes.section", "rope.axes.kind", "rope.rotary_dim",
                          "rope.partial_rotary_factor", "rope.pairing", "model.head_dim"}});
  };
  const std::string section = fmt::format("[{}]", fmt::join(axes.section, ", "));
  if (axes.kind == "none") {
    return problem(fmt::format("section {} with axes kind none", section));
  }
  const AxesRule* rule = nullptr;
  for (const AxesRule& row : kAxesRules) {
    if (axes.kind == row.kind) rule = &row;
  }
  if (!rule) return;
  if (axes.section.empty() && axes.kind == "vision_2d") return;  // halves
  if (axes.section.size() != rule->rows) {
    problem(fmt::format("axes {} needs a section of {} counts ({}), got {}", axes.kind, rule->rows,
                        rule->order, section));
    return;
  }
  const int64_t pairs = c.rope.rotary_dim / 2;
  int64_t sum = 0;
  for (const int64_t count : axes.section) sum = saturating_add(sum, count);
  if (sum != pairs) {
    problem(fmt::format("section {} sums to {}, but rotary_dim/2 is {}", section, sum, pairs));
  } else if (axes.kind == "mrope_interleaved") {
    const std::vector<int64_t> counts = interleaved_counts(axes.section, pairs);
    if (counts != axes.section) {
      problem(fmt::format("section {} is not what the interleaved rule gives: {}/{}/{}", section,
                          counts[0], counts[1], counts[2]));
    }
  } else if (axes.kind == "ernie" && axes.section[0] != axes.section[1]) {
    problem(fmt::format("section {}: h {} and w {} alternate and must be equal", section,
                        axes.section[0], axes.section[1]));
  }
}

}  // namespace rope_bench
