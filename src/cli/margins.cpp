#include "src/cli/margins.h"

#include <charconv>
#include <cmath>

#include "fmt/format.h"
#include "src/case/errors.h"

namespace rope_bench {
namespace {

// The number before an optional unit; NaN for anything else.
double number_before(std::string text, const std::string& unit) {
  if (text.ends_with(unit)) text.resize(text.size() - unit.size());
  while (text.ends_with(' ')) text.pop_back();
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : std::nan("");
}

}  // namespace

void add_margin_flags(Flags& flags, MarginFlags& values) {
  flags.text("--margin", values.margin, "a slowdown up to this share is none (2%)",
             FlagGroup::kWhatToDo, "PERCENT");
  flags.text("--margins", values.file, "margins of cases of their own, as calibrate writes them",
             FlagGroup::kWhatToDo, "FILE");
  flags.text("--floor", values.floor, "a change of time up to this is none (0.3us)",
             FlagGroup::kWhatToDo, "MICROSECONDS");
}

double parse_percent(const std::string& flag, const std::string& text) {
  const double value = number_before(text, "%");
  if (!(value > 0 && value < 100)) {
    throw ConfigError(fmt::format(
        "{} {}: allowed: a percentage above 0 and below 100, as 2% or 0.5", flag, text));
  }
  return value / 100;
}

int parse_slowdown(const std::string& flag, const std::string& text) {
  const double value = number_before(text, "%");
  if (!(value >= 1 && value <= 25))
    throw ConfigError(fmt::format("{} {}: allowed: 1% to 25%", flag, text));
  return static_cast<int>(std::lround(100 / value));
}

double parse_microseconds(const std::string& flag, const std::string& text) {
  const double value = number_before(text, "us");
  if (!(value >= 0 && std::isfinite(value))) {
    throw ConfigError(
        fmt::format("{} {}: allowed: microseconds from 0, as 0.3us or 0.3", flag, text));
  }
  return value;
}

}  // namespace rope_bench
