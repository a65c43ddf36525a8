#include <charconv>
#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/math/table.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxPosition = (int64_t{1} << 31) - 1;

struct TableOptions {
  CaseOptions cases;
  std::vector<std::string> outputs;
  std::string positions;
};

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

std::vector<int64_t> parse_positions(const std::string& text) {
  std::vector<int64_t> positions;
  for (size_t start = 0; start <= text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    positions.push_back(parse_position(text.substr(start, comma - start)));
    start = comma + 1;
  }
  return positions;
}

// What decides a table: the cases of a config usually share it.
struct Parameters {
  const RopeCase* c = nullptr;
  Frequencies frequencies;
};

bool same_table(const Parameters& p, const RopeCase& c, const Frequencies& f) {
  return p.c->rope.table.angle == c.rope.table.angle && p.frequencies == f;
}

Parameters the_parameters(const std::vector<RopeCase>& cases) {
  std::vector<Parameters> distinct;
  std::string refusal;
  for (const RopeCase& c : cases) {
    if (!c.skip_reason.empty() || !unsupported_scaling(c).empty()) {
      refusal = c.skip_reason.empty() ? unsupported_scaling(c) : c.skip_reason;
      continue;
    }
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
  return std::move(distinct.front());
}

struct Table {
  RopeCase c;
  Frequencies frequencies;
  std::vector<double> inv_freq;
  std::vector<int64_t> positions;
  std::vector<std::vector<double>> cosines, sines;
};

Table make_table(Parameters parameters, const std::string& positions) {
  Table table{*parameters.c, std::move(parameters.frequencies), {}, {}, {}, {}};
  const TableAngle angle = table.c.rope.table.angle;
  const Frequencies& f = table.frequencies;
  if (angle == TableAngle::kExact) {
    for (long double value : f.exact) table.inv_freq.push_back(static_cast<double>(value));
  } else {
    table.inv_freq.assign(f.float32.begin(), f.float32.end());
  }
  if (positions.empty()) {
    table.positions = {0, 1, 2};
    if (table.c.max_position) table.positions.push_back(*table.c.max_position - 1);
  } else {
    table.positions = parse_positions(positions);
  }
  for (int64_t position : table.positions) {
    std::vector<double>& cosines = table.cosines.emplace_back(f.exact.size());
    std::vector<double>& sines = table.sines.emplace_back(f.exact.size());
    cos_sin_row(f, angle, position, cosines.data(), sines.data());
  }
  return table;
}

Json details_json(const Frequencies& f) {
  Json json = Json::object();
  for (const ScalingDetail& detail : f.details) {
    std::visit([&](const auto& value) { json[detail.name] = value; }, detail.value);
  }
  return json;
}

Json table_json(const Table& table) {
  Json rows = Json::array();
  for (size_t i = 0; i < table.positions.size(); ++i) {
    rows.push_back(
        {{"position", table.positions[i]}, {"cos", table.cosines[i]}, {"sin", table.sines[i]}});
  }
  return {{"config", table.c.config},
          {"pairing", info(table.c.rope.pairing).name},
          {"rotary_dim", table.c.rope.rotary_dim},
          {"theta", table.c.rope.theta},
          {"scaling", scaling_json(table.c.rope.scaling)},
          {"angle", name(table.c.rope.table.angle)},
          {"attention_factor", table.frequencies.attention_factor},
          {"details", details_json(table.frequencies)},
          {"inv_freq", table.inv_freq},
          {"rows", std::move(rows)}};
}

std::string digits17(double value) { return fmt::format("{:.17g}", value); }

std::string table_text(const Table& table) {
  const Rope& rope = table.c.rope;
  std::string text =
      fmt::format("{}: {}, rotary_dim {}, theta {}, scaling {}, {} angles, attention_factor {}\n",
                  table.c.config, info(rope.pairing).name, rope.rotary_dim, rope.theta,
                  scaling_json(rope.scaling).dump(), name(rope.table.angle),
                  digits17(table.frequencies.attention_factor));
  const Json details = details_json(table.frequencies);
  for (const auto& [key, value] : details.items()) {
    text += fmt::format("{}: {}\n", key, value.dump());
  }
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < table.inv_freq.size(); ++i) {
    rows.push_back({fmt::format("{}", i), digits17(table.inv_freq[i])});
  }
  text += '\n';
  text += text_rows({"pair", "inv_freq"}, rows, {0});
  rows.clear();
  for (size_t p = 0; p < table.positions.size(); ++p) {
    for (size_t i = 0; i < table.inv_freq.size(); ++i) {
      rows.push_back({fmt::format("{}", table.positions[p]), fmt::format("{}", i),
                      digits17(table.cosines[p][i]), digits17(table.sines[p][i])});
    }
  }
  text += '\n';
  return text + text_rows({"position", "pair", "cos", "sin"}, rows, {0, 1, 2, 3});
}

ExitCode run_table(const TableOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  if (!options.positions.empty()) parse_positions(options.positions);
  const LoadedConfig config = select_cases(options.cases);
  if (config.cases.empty()) {
    fmt::print(stderr, "rope-bench: {}\n", nothing_selected(options.cases));
    return ExitCode::kNothingRan;
  }
  for (const std::string& line : config.warnings) fmt::print(stderr, "{}\n", line);
  const Table table = make_table(the_parameters(config.cases), options.positions);
  write_document(
      targets, [&] { return table_text(table); }, [&] { return table_json(table); });
  return ExitCode::kGood;
}

}  // namespace

Action setup_table(Flags& flags) {
  const auto options = std::make_shared<TableOptions>();
  add_case_flags(flags, options->cases);
  flags.text("--positions", options->positions,
             "rows to print, each from 0 to 2147483647 (0, 1, 2 and the last position)",
             FlagGroup::kCases, "A,B,C");
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_table(*options); };
}

}  // namespace rope_bench
