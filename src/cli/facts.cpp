#include "src/cli/facts.h"

#include <algorithm>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

const RopeFacts* FactSheet::of(const RopeCase& c) {
  if (!c.skip_reason.empty() || !unknown_scaling(c).empty()) return nullptr;
  Frequencies f = frequencies_of(c);
  RopeFacts facts;
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.max_position == c.max_position && entry.frequencies == f &&
           entry.facts.trained_length == trained_length_of(c);
  });
  if (found == entries_.end()) {
    facts = facts_of(c, f);
    const size_t pairs = f.exact.size();
    entries_.push_back({c.name, 0, pairs, c.max_position, std::move(f), facts});
    found = entries_.end() - 1;
  }
  ++found->cases;
  return &found->facts;
}

std::string FactSheet::text() const {
  std::string text;
  for (const Entry& entry : entries_) {
    const RopeFacts& facts = entry.facts;
    text += fmt::format("\n{}", entry.first_case);
    if (entry.cases > 1) text += fmt::format(" and {} more", entry.cases - 1);
    text += ":\n";
    if (facts.shortest_wavelength) {
      text += fmt::format("  wavelengths: {:.6g} to {:.6g} positions per turn\n",
                          *facts.shortest_wavelength, *facts.longest_wavelength);
    }
    if (facts.still_pairs > 0) {
      text +=
          fmt::format("  pairs that do not turn: {} of {}\n", facts.still_pairs, entry.num_pairs);
    }
    if (facts.incomplete_pairs) {
      text += fmt::format("  pairs without a full turn within the trained length {}: {} of {}\n",
                          *facts.trained_length, *facts.incomplete_pairs, entry.num_pairs);
    }
    if (facts.slowest_repeats) {
      text +=
          fmt::format("  the slowest pair repeats from position {} on\n", *facts.slowest_repeats);
    }
    if (facts.float32_error) {
      text +=
          fmt::format("  float32 angles are up to {:.2g} off in cos or sin at max_position {}\n",
                      *facts.float32_error, *entry.max_position);
    }
  }
  return text;
}

Json facts_json(const RopeFacts* facts) {
  if (!facts) return nullptr;
  return {{"shortest_wavelength", or_null(facts->shortest_wavelength)},
          {"longest_wavelength", or_null(facts->longest_wavelength)},
          {"still_pairs", facts->still_pairs},
          {"trained_length", or_null(facts->trained_length)},
          {"incomplete_pairs", or_null(facts->incomplete_pairs)},
          {"slowest_repeats", or_null(facts->slowest_repeats)},
          {"float32_max_abs", or_null(facts->float32_error)}};
}

}  // namespace rope_bench
