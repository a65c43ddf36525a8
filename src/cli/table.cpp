// `table`: the frequencies, factors and rows of one parameter set, or of two side by side.
#include <charconv>
#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/axes.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/cli/table_document.h"
#include "src/math/scaling_check.h"
#include "src/report/output.h"

namespace rope_bench {
namespace {

constexpr int64_t kMaxPosition = (int64_t{1} << 31) - 1;

struct TableOptions {
  CaseOptions cases;
  std::vector<std::string> outputs;
  std::string positions, versus;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

int64_t parse_position(const std::string& word) {
  int64_t position = -1;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), position);
  if (error != std::errc() || stop != word.data() + word.size() || position < 0 ||
      position > kMaxPosition) {
    throw ConfigError(
        fmt::format("--positions: \"{}\" is not a whole number from 0 to {}", word, kMaxPosition));
  }
  return position;
}

// "5" or, where there are position axes, one number for each: "10:3:7".
std::vector<Coordinates> parse_positions(const std::string& text) {
  std::vector<Coordinates> places;
  for (const std::string& word : split(text, ',')) {
    Coordinates& at = places.emplace_back();
    for (const std::string& number : split(word, ':')) at.push_back(parse_position(number));
  }
  return places;
}

std::vector<Coordinates> places_of(const RopeCase& c, const std::string& positions) {
  std::vector<Coordinates> places = {{0}, {1}, {2}};
  if (!positions.empty()) {
    places = parse_positions(positions);
  } else if (c.max_position && *c.max_position <= kMaxPosition + 1) {
    places.push_back({*c.max_position - 1});
  }
  for (Coordinates& at : places) {
    // One number stands for all axes.
    if (at.size() == 1) at.resize(static_cast<size_t>(num_axes(c.rope.axes)), at[0]);
  }
  return places;
}

// What decides a table: the cases of a config usually share it.
struct Parameters {
  const RopeCase* c = nullptr;
  Frequencies frequencies;
};

bool same_table(const Parameters& p, const RopeCase& c, const Frequencies& f) {
  const Rope &a = p.c->rope, &b = c.rope;
  // Tables beyond the frequencies' own depend on parameters, heads and seed.
  const bool same_tables =
      unsupported_scaling(c).empty() ||
      (a.scaling == b.scaling && p.c->num_kv_heads == c.num_kv_heads && p.c->seed == c.seed);
  return same_tables && a.table.angle == b.table.angle && a.table.dtype == b.table.dtype &&
         a.axes == b.axes && a.reversed == b.reversed && a.query_scale == b.query_scale &&
         p.frequencies == f;
}

const RopeCase& the_case(const std::vector<RopeCase>& cases) {
  std::vector<Parameters> distinct;
  std::string refusal;
  for (const RopeCase& c : cases) {
    refusal = c.skip_reason.empty() ? unknown_scaling(c) : c.skip_reason;
    if (!refusal.empty()) continue;
    Frequencies f = frequencies_of(c);
    const auto same = [&](const Parameters& p) { return same_table(p, c, f); };
    if (std::none_of(distinct.begin(), distinct.end(), same))
      distinct.push_back({&c, std::move(f)});
    if (distinct.size() > 1) {
      throw ConfigError(fmt::format(
          "the cases have different rope parameters ({} and {}); choose one with --filter",
          distinct[0].c->name, distinct[1].c->name));
    }
  }
  if (distinct.empty()) throw ConfigError(fmt::format("{}: {}", cases.front().name, refusal));
  return *distinct.front().c;
}

// The same case with the scaling of --versus: an object as in a config, or the name of a type. It
// is read as part of a small config, so that it is checked as any other.
RopeCase other_reading(const std::string& versus, const RopeCase& c) {
  const bool is_object = versus.starts_with('{');
  nlohmann::ordered_json rope = {{"theta", c.rope.theta}, {"seq_len", seq_len_of(c)}};
  if (c.rope.axes.kind != "none") rope["axes"] = {{"kind", c.rope.axes.kind}};
  if (!c.rope.axes.section.empty()) rope["axes"]["section"] = c.rope.axes.section;
  nlohmann::ordered_json model = {{"num_heads", 1}, {"head_dim", c.rope.rotary_dim}};
  if (c.max_position) model["max_position"] = *c.max_position;
  std::string text = nlohmann::ordered_json{{"tokens", 1}, {"model", model}, {"rope", rope}}.dump();
  const std::string scaling = is_object ? versus : nlohmann::ordered_json{{"type", versus}}.dump();
  text.insert(text.size() - 2, ",\"scaling\":" + scaling);
  const LoadedConfig config = parse_config(text, "--versus", scaling_catalog(), {}, ScalingCheck());
  if (config.cases.size() != 1) throw ConfigError("--versus: one scaling is needed, not an axis");
  RopeCase other = c;
  other.rope.scaling = config.cases[0].rope.scaling;
  if (other.rope.scaling.type == "proportional" && c.rope.rotary_dim != c.head_dim) {
    throw ConfigError(
        fmt::format("--versus: proportional spans all {} dims of a head, but rotary_dim "
                    "is {}",
                    c.head_dim, c.rope.rotary_dim));
  }
  return other;
}

ExitCode run_table(const TableOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  if (!options.positions.empty()) parse_positions(options.positions);
  const LoadedConfig config = select_cases(options.cases);
  if (config.cases.empty()) {
    write_stderr(fmt::format("rope-bench: {}\n", nothing_selected(options.cases)));
    return ExitCode::kNothingRan;
  }
  for (const ConfigNote& said : notes_of(config)) {
    if (said.warning) write_stderr(to_text(said) + "\n");
  }
  const RopeCase& c = the_case(config.cases);
  const std::vector<Coordinates> places = places_of(c, options.positions);
  TableDocument document{read_table(c, places), std::nullopt};
  if (!options.versus.empty())
    document.versus = read_table(other_reading(options.versus, c), places);
  write_document(
      targets, [&] { return table_text(document); }, [&] { return table_json(document); });
  return ExitCode::kGood;
}

}  // namespace

Action setup_table(Flags& flags) {
  const auto options = std::make_shared<TableOptions>();
  add_case_flags(flags, options->cases);
  flags.text("--positions", options->positions,
             "rows to print, each from 0 to 2147483647 (0, 1, 2 and the last position); with "
             "rope.axes also one number per axis, as 10:3:7",
             FlagGroup::kCases, "A,B,C");
  flags.text("--versus", options->versus,
             "a second reading beside the first: a scaling object as in a config, or a type",
             FlagGroup::kCases, "SCALING");
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_table(*options); };
}

}  // namespace rope_bench
