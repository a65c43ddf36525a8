#include "src/math/turns.h"

#include "src/math/angles.h"

namespace rope_bench {

std::string why_no_turns(const RopeCase& c, const Frequencies& f) {
  if (f.segments.empty()) return {};
  return "scaling " + c.rope.scaling.type +
         " has other frequencies from one position on: its angles need a table";
}

std::vector<uint64_t> turns_of(const RopeCase& c, const Frequencies& f) {
  std::vector<uint64_t> turns;
  turns.reserve(f.exact.size());
  for (const long double frequency : f.exact) {
    const PhaseStep step = phase_step(c.rope.reversed ? -frequency : frequency);
    turns.push_back(step.units + (step.fraction >> 31));  // half a unit and more: the next one
  }
  return turns;
}

std::vector<float> radians_of(const RopeCase& c, const Frequencies& f) {
  std::vector<float> radians;
  radians.reserve(f.exact.size());
  for (const long double frequency : f.exact) {
    radians.push_back(static_cast<float>(c.rope.reversed ? -frequency : frequency));
  }
  return radians;
}

}  // namespace rope_bench
