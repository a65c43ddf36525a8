#include "src/math/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/case/axes.h"
#include "src/case/errors.h"
#include "src/math/angles.h"
#include "src/math/numeric.h"
#include "src/math/row_rule.h"

namespace rope_bench {
namespace {

constexpr double kTwoPi = 6.28318530717958647692528676655900577;
constexpr int64_t kLastPositions = 4096;

void require_coordinates(const RopeCase& c, const Coordinates& at) {
  const size_t axes = static_cast<size_t>(num_axes(c.rope.axes));
  if (at.size() == axes) return;
  throw ConfigError(fmt::format(
      "--positions: {} has {} numbers, expected {}", fmt::join(at, ":"), at.size(),
      axes == 1 ? "one: there are no rope.axes"
                : fmt::format("{} ({}), as rope.axes {} has, or one for all", axes,
                              fmt::join(axis_names(c.rope.axes), ":"), c.rope.axes.kind)));
}

// One value as the table stores it: its error counts, and for the 16-bit types it is what is shown.
void store(Dtype dtype, double exact, double* value, double* max_abs) {
  const double stored = round_to(dtype, *value);
  *max_abs = std::max(*max_abs, std::abs(stored - exact));
  if (dtype != Dtype::kF32) *value = stored;
}

double float32_error(const Frequencies& f, int64_t max_position) {
  const size_t pairs = f.exact.size();
  Frequencies unscaled = f;
  unscaled.attention_factor = 1;
  const AngleRows exact(unscaled, TableAngle::kExact), rounded(unscaled, TableAngle::kFloat32);
  std::vector<double> a(2 * pairs), b(2 * pairs);
  double worst = 0;
  for (int64_t p = std::max<int64_t>(0, max_position - kLastPositions); p < max_position; ++p) {
    exact.row(p, a.data(), a.data() + pairs);
    rounded.row(p, b.data(), b.data() + pairs);
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

}  // namespace

TableReading read_table(const RopeCase& c, const std::vector<Coordinates>& places) {
  TableReading reading{c, frequencies_of(c), {}, {}};
  const Frequencies& f = reading.frequencies;
  if (c.rope.table.angle == TableAngle::kExact) {
    for (const long double value : f.exact) reading.inv_freq.push_back(static_cast<double>(value));
  } else {
    reading.inv_freq.assign(f.float32.begin(), f.float32.end());
  }
  for (const Coordinates& at : places) {
    require_coordinates(c, at);
    std::vector<NamedRow> rows = named_rows(c, c.rope.table.angle, at);
    const std::vector<NamedRow> exact = named_rows(c, TableAngle::kExact, at);
    for (size_t t = 0; t < rows.size(); ++t) {
      ReadRow row{rows[t].name,
                  at,
                  rows[t].row,
                  std::move(rows[t].cosines),
                  std::move(rows[t].sines),
                  0,
                  query_factor(c, at[0])};
      for (size_t i = 0; i < row.cosines.size(); ++i) {
        store(c.rope.table.dtype, exact[t].cosines[i], &row.cosines[i], &row.max_abs);
        store(c.rope.table.dtype, exact[t].sines[i], &row.sines[i], &row.max_abs);
      }
      reading.rows.push_back(std::move(row));
    }
  }
  return reading;
}

LargestDifference largest_difference(const std::vector<double>& one,
                                     const std::vector<double>& other) {
  LargestDifference largest;
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    const double difference = std::abs(other[i] - one[i]);
    if (difference == 0) continue;
    const double relative =
        one[i] == 0 ? std::numeric_limits<double>::infinity() : difference / std::abs(one[i]);
    if (relative > largest.relative) largest = {relative, i};
  }
  return largest;
}

std::optional<int64_t> trained_length_of(const RopeCase& c) {
  const char* key = "original_max_position_embeddings";
  const auto given = c.rope.scaling.params.find(key);
  if (given != c.rope.scaling.params.end()) {
    return static_cast<int64_t>(std::get<double>(given->second));
  }
  for (const ScalingMethodSpec& method : scaling_catalog()) {
    if (method.name != c.rope.scaling.type) continue;
    for (const ScalingParamSpec& param : method.params) {
      if (param.name == key && param.default_value) {
        return static_cast<int64_t>(*param.default_value);
      }
    }
  }
  return c.max_position;
}

RopeFacts facts_of(const RopeCase& c, const Frequencies& f) {
  RopeFacts facts;
  facts.trained_length = trained_length_of(c);
  if (facts.trained_length) facts.incomplete_pairs = 0;
  for (const long double inv : f.exact) {
    const double wavelength = kTwoPi / std::abs(static_cast<double>(inv));  // infinite if still
    if (facts.trained_length && wavelength > static_cast<double>(*facts.trained_length)) {
      ++*facts.incomplete_pairs;
    }
    if (!std::isfinite(wavelength)) {
      ++facts.still_pairs;
      continue;
    }
    facts.shortest_wavelength =
        std::min(facts.shortest_wavelength.value_or(wavelength), wavelength);
    facts.longest_wavelength = std::max(facts.longest_wavelength.value_or(wavelength), wavelength);
  }
  if (facts.longest_wavelength && *facts.longest_wavelength < 0x1p62) {
    facts.slowest_repeats = static_cast<int64_t>(std::ceil(*facts.longest_wavelength));
  }
  if (c.max_position && *c.max_position <= int64_t{1} << 31) {
    facts.float32_error = float32_error(f, *c.max_position);
  }
  return facts;
}

}  // namespace rope_bench
