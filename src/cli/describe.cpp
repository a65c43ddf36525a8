#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/boards.h"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/facts.h"
#include "src/cli/models.h"
#include "src/cli/options.h"
#include "src/cli/variants.h"
#include "src/measure/runner.h"
#include "src/report/numbers.h"
#include "src/report/output.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

struct DescribeOptions {
  CaseOptions cases;
  std::vector<std::string> outputs;
  std::string board;
};

struct Peak {
  std::string board;  // empty: none
  std::optional<double> gb_s;
};

// Of the board asked for, else of the GPU in this machine, else none.
Peak find_peak(const std::string& board, std::vector<ConfigNote>& notes) {
  if (!board.empty()) {
    const Board& known = board_named(board);
    return {known.name, known.peak_gb_s};
  }
  std::vector<std::string> device_notes;
  const DeviceInfo device = Runner::open(DeviceChoice{}, &device_notes)->device_info();
  if (device.device.starts_with("cuda")) return {device.model, device.theoretical_peak_gb_s};
  notes.push_back({false, "", "", "no GPU here: no speed-of-light times without --board NAME"});
  return {};
}

std::string notes_text(const std::vector<ConfigNote>& notes) {
  std::string text;
  for (const ConfigNote& note : notes) {
    text += (note.warning ? "warning: " : "") + to_text(note) + "\n";
  }
  return notes.empty() ? text : "\n" + text;
}

std::vector<ConfigNote> warnings_in(std::vector<ConfigNote> notes) {
  std::erase_if(notes, [](const ConfigNote& note) { return !note.warning; });
  return notes;
}

std::string describe_text(const LoadedConfig& config, const Peak& peak, FactSheet& sheet,
                          const std::vector<ConfigNote>& notes) {
  std::vector<std::vector<std::string>> rows;
  for (const RopeCase& c : config.cases) {
    std::vector<std::string> row = {c.name, fmt::format("{}", c.num_tokens()),
                                    fmt::format("{}/{}", c.num_heads, c.num_kv_heads),
                                    fmt::format("{}/{}", c.rope.rotary_dim, c.head_dim)};
    if (c.skip_reason.empty()) {
      const ByteCount bytes = bytes_of(c, uses_table(c));
      for (int64_t part : {bytes.read, bytes.write, bytes.table, bytes.positions, bytes.total()}) {
        row.push_back(human_bytes(part));
      }
      row.push_back(peak.gb_s ? significant4(speed_of_light_us(bytes, *peak.gb_s)) : "-");
    } else {
      row.insert(row.end(), {"skipped", "-", "-", "-", "-", "-"});
    }
    rows.push_back(std::move(row));
  }
  std::string text = text_rows({"case", "tokens", "heads", "dims", "read", "write", "table",
                                "positions", "total", "light us"},
                               rows, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  if (peak.gb_s) text += fmt::format("speed of light: {}, {} GB/s\n", peak.board, *peak.gb_s);
  for (const RopeCase& c : config.cases) {
    if (!c.skip_reason.empty()) text += fmt::format("skipped {}: {}\n", c.name, c.skip_reason);
  }
  for (const RopeCase& c : config.cases) sheet.of(c);
  text += sheet.text();
  return text + notes_text(notes);
}

ExitCode run_describe(const DescribeOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  if (!options.board.empty()) board_named(options.board);
  const LoadedConfig config = select_cases(options.cases);
  if (config.cases.empty()) {
    write_stderr(fmt::format("rope-bench: {}\n", nothing_selected(options.cases)));
    return ExitCode::kNothingRan;
  }
  std::vector<ConfigNote> notes = notes_of(config);
  const Peak peak = find_peak(options.board, notes);
  const auto json = [&] {
    Json cases = Json::array();
    FactSheet sheet;
    for (const RopeCase& c : config.cases) {
      cases.push_back(case_json(c, peak.gb_s));
      if (c.skip_reason.empty()) cases.back()["rope"]["facts"] = facts_json(sheet.of(c));
    }
    const Json board = peak.gb_s ? Json{{"name", peak.board}, {"peak_gb_s", *peak.gb_s}} : Json();
    Json document = {{"cases", std::move(cases)}, {"notes", notes_json(notes)}, {"board", board}};
    if (!config.models.empty()) document["models"] = models_json(config);
    return document;
  };
  write_document(
      targets,
      [&] {
        if (options.cases.hf.size() > 1)
          return models_text(config) + notes_text(warnings_in(notes));
        FactSheet sheet;
        return describe_text(config, peak, sheet, notes);
      },
      json);
  return ExitCode::kGood;
}

}  // namespace

Action setup_describe(Flags& flags) {
  const auto options = std::make_shared<DescribeOptions>();
  add_case_flags(flags, options->cases);
  flags.text("--board", options->board,
             "speed of light of this board instead of the GPU present, for example h200",
             FlagGroup::kDevice, "NAME");
  add_output_flag(flags, options->outputs, document_formats());
  return [options](const Invocation&) { return run_describe(*options); };
}

}  // namespace rope_bench
