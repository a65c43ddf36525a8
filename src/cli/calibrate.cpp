// `calibrate`: every case against itself. How noisy is this machine, what would a gate find here?
#include <cmath>
#include <map>
#include <memory>

#include "fmt/format.h"
#include "src/cli/child.h"
#include "src/cli/command.h"
#include "src/cli/gate_binaries.h"
#include "src/cli/gate_variants.h"
#include "src/cli/interrupt.h"
#include "src/cli/margins.h"
#include "src/cli/open_cases.h"
#include "src/cli/options.h"
#include "src/cli/write_verdicts.h"
#include "src/compare/margins_file.h"
#include "src/gate/noise.h"

namespace rope_bench {
namespace {

constexpr uint64_t kSessions = 6, kRounds = 10;

struct CalibrateFlags {
  CaseOptions cases;
  std::string device = "auto", write;
  std::optional<uint64_t> sessions, rounds;
  MarginFlags margins;
  std::vector<std::string> outputs;
};

// Everything known of one case.
struct Calibrated {
  GateCase row;
  AaSample sample;
  Noise noise;
  double margin = 0;  // asked for, after the floor
  Detection gate, compare;
  bool complete() const { return row.log_ratios.size() > 1 && sample.run_log.size() > 1; }
  // Where only a case of twice the time would be noticed, there is nothing to gate: 0.
  double margin_of(const Detection& d) const { return complete() && d.margin < 1 ? d.margin : 0; }
  bool usable() const { return margin_of(gate) > 0 && margin_of(compare) > 0; }
};

std::string key_of(const std::string& name, const std::string& cache) {
  return name + '\n' + cache;
}

// Runs of this program, each a process of its own, as `compare` would get them.
void add_sessions(const CalibrateFlags& flags, uint64_t sessions, double most_seconds,
                  std::vector<Calibrated>* all) {
  std::map<std::string, Calibrated*> by_key;
  for (Calibrated& c : *all) by_key[key_of(c.row.name, c.row.cache)] = &c;
  const std::vector<std::string> args = case_arguments(flags.cases, flags.device);
  for (uint64_t i = 0; i < sessions; ++i) {
    const std::optional<ResultsFile> file = run_for_results(this_program(), args, most_seconds);
    if (!file) return;
    for (const ResultRow& row : file->rows) {
      const auto found = by_key.find(key_of(row[Field::kName], row[Field::kCache]));
      if (found == by_key.end()) continue;
      const bool has_ratio = row.value(Field::kLimitRatio).has_value();
      const auto value = row.value(has_ratio ? Field::kLimitRatio : Field::kTimeMedian);
      const auto low = row.value(has_ratio ? Field::kLimitRatioCiLow : Field::kTimeCiLow);
      const auto high = row.value(has_ratio ? Field::kLimitRatioCiHigh : Field::kTimeCiHigh);
      if (!value || !low || !high) continue;
      found->second->sample.run_log.push_back(std::log(*value));
      found->second->sample.run_half.push_back(std::log(*high / *low) / 2);
    }
  }
}

using Cell = VerdictCell;
using C = Calibrated;
template <double Noise::*member>
Cell noise(const C& c) {
  return c.complete() ? Cell(100 * c.noise.*member) : Cell();
}
// Beyond 100 times the base the numbers say no more than that nothing would be found.
template <Detection C::*of, double Detection::*member>
Cell detection(const C& c) {
  const double share = (c.*of).*member;
  return c.complete() && share < 100 ? Cell(100 * share) : Cell();
}
Cell text(const std::string& value) { return value.empty() ? Cell() : Cell(value); }

// New columns go to the end.
const struct {
  VerdictColumn column;
  Cell (*get)(const C& c);
} kColumns[] = {
    {{"name", "case", 0}, [](const C& c) { return text(c.row.name); }},
    {{"variant", nullptr, 0}, [](const C& c) { return text(c.row.variant); }},
    {{"dtype", nullptr, 0}, [](const C& c) { return text(c.row.dtype); }},
    {{"cache", "cache", 0}, [](const C& c) { return text(c.row.cache); }},
    {{"time_us", "time us", 3},
     [](const C& c) { return c.row.base_us > 0 ? Cell(c.row.base_us) : Cell(); }},
    {{"round_noise_percent", "round %", 2}, noise<&Noise::round>},
    {{"run_noise_percent", "run %", 2}, noise<&Noise::run>},
    {{"layout_bias_percent", "layout %", 2}, noise<&Noise::layout>},
    {{"gate_false_alarm_percent", "gate: alarms %", 3},
     detection<&C::gate, &Detection::false_alarm>},
    {{"gate_smallest_percent", "finds %", 2}, detection<&C::gate, &Detection::smallest>},
    {{"gate_margin_percent", "margin %", 2}, detection<&C::gate, &Detection::margin>},
    {{"compare_false_alarm_percent", "compare: alarms %", 3},
     detection<&C::compare, &Detection::false_alarm>},
    {{"compare_smallest_percent", "finds %", 2}, detection<&C::compare, &Detection::smallest>},
    {{"compare_margin_percent", "margin %", 2}, detection<&C::compare, &Detection::margin>},
    {{"reason", "reason", 0}, [](const C& c) { return text(c.row.reason); }},
};

VerdictTable table_of(const std::vector<C>& all, double margin, uint64_t sessions,
                      uint64_t rounds) {
  VerdictTable table;
  for (const auto& column : kColumns) table.columns.push_back(column.column);
  size_t usable = 0, complete = 0, wrong = 0;
  for (const C& c : all) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const auto& column : kColumns) cells.push_back(column.get(c));
    usable += c.usable() ? 1 : 0;
    complete += c.complete() ? 1 : 0;
    wrong += c.row.wrong ? 1 : 0;
  }
  table.counts = {{"calibrated", usable}, {"wrong", wrong}, {"other", all.size() - usable}};
  table.settings = {{"margin_percent", 100 * margin},
                    {"sessions", static_cast<double>(sessions)},
                    {"rounds", static_cast<double>(rounds)}};
  table.code = wrong > 0             ? ExitCode::kWrong
               : complete == 0       ? ExitCode::kNothingRan
               : usable < all.size() ? ExitCode::kInconclusive
                                     : ExitCode::kGood;
  table.summary =
      fmt::format("calibrate: {} of {} cases, {} sessions, {} rounds, margin {:.4g} %\n", usable,
                  all.size(), sessions, rounds, 100 * margin);
  return table;
}

Margins margins_of(const std::vector<C>& all, const std::string& device_model) {
  Margins margins(device_model);
  for (const C& c : all) {
    const double compare = c.margin_of(c.compare), gate = c.margin_of(c.gate);
    if (compare > 0 || gate > 0)
      margins.add({c.row.name, c.row.variant, c.row.dtype, c.row.cache, compare, gate});
  }
  return margins;
}

ExitCode run_calibrate(const CalibrateFlags& flags) {
  const uint64_t sessions = flags.sessions.value_or(kSessions),
                 rounds = flags.rounds.value_or(kRounds);
  const double margin = parse_percent("--margin", flags.margins.margin),
               floor_us = parse_microseconds("--floor", flags.margins.floor);
  const std::vector<OutputTarget> targets = parse_outputs(flags.outputs, verdict_formats());
  if (!flags.write.empty()) require_writable(flags.write);
  const DeviceChoice choice = parse_device(flags.device);
  const std::optional<OpenCases> open = open_cases(flags.cases, choice);
  if (!open) return ExitCode::kNothingRan;
  const std::vector<RopeCase>& cases = open->config.cases;
  Runner& runner = *open->runner;
  catch_interrupt();

  std::vector<C> all;
  std::map<size_t, AaSample> samples;
  AbRun how;
  how.rounds = static_cast<int64_t>(rounds);
  how.on_measured = [&](size_t index, const AbMeasurement& m) {
    samples[index] = {m.a_us, m.b_us, {}, {}};
  };
  for (GateCase& row : run_ab(runner, one_cache_each(cases), how)) {
    C& c = all.emplace_back();
    c.sample = samples[all.size() - 1];
    c.margin = row.base_us > 0 ? effective_margin(margin, floor_us, row.base_us) : margin;
    c.row = std::move(row);
  }
  add_sessions(flags, sessions, most_seconds_of(cases), &all);
  if (interrupted()) {
    write_stderr("rope-bench: interrupted: no margins\n");
    return ExitCode::kInterrupted;
  }
  for (C& c : all) {
    c.noise = noise_of(c.sample);
    if (!c.complete()) continue;
    c.gate = gate_detection(c.noise, rounds, c.margin);
    c.compare = compare_detection(c.noise, c.sample.run_log.size(), c.margin);
  }
  for (C& c : all) {
    if (!c.complete() || c.usable()) continue;
    c.row.reason =
        fmt::format("too noisy for a margin below 100 % of {}; more sessions, or a quieter machine",
                    c.margin_of(c.gate) > 0      ? "compare"
                    : c.margin_of(c.compare) > 0 ? "gate"
                                                 : "compare and gate");
    write_stderr(fmt::format("rope-bench: {}: {}\n", c.row.name, c.row.reason));
  }
  const Margins margins = margins_of(all, runner.device_info().model);
  if (!flags.write.empty() && margins.empty()) {
    write_stderr(fmt::format("rope-bench: {} is not written: no case has margins\n", flags.write));
  } else if (!flags.write.empty()) {
    write_file(flags.write, margins.json());
  }
  const VerdictTable table = table_of(all, margin, sessions, rounds);
  write_verdict_table(table, targets);
  return table.code;
}

}  // namespace

Action setup_calibrate(Flags& flags) {
  const auto values = std::make_shared<CalibrateFlags>();
  add_case_flags(flags, values->cases);
  add_device_flag(flags, values->device);
  flags.whole_number("--sessions", values->sessions, "runs in processes of their own (6)",
                     FlagGroup::kWhatToDo, {2, 10000});
  flags.whole_number("--rounds", values->rounds, "A/A rounds in one process (10)",
                     FlagGroup::kWhatToDo, {2, 10000});
  flags.text("--margin", values->margins.margin, "the margin that is asked for (2%)",
             FlagGroup::kWhatToDo, "PERCENT");
  flags.text("--floor", values->margins.floor, "a change of time up to this is none (0.3us)",
             FlagGroup::kWhatToDo, "MICROSECONDS");
  flags.text("-w,--write", values->write, "write margins for --margins of compare and gate",
             FlagGroup::kOutput, "FILE");
  add_output_flag(flags, values->outputs, verdict_formats());
  return [values](const Invocation&) { return run_calibrate(*values); };
}

}  // namespace rope_bench
