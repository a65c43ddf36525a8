// `gate`: two binaries or two variants in one session, round by round.
#include <algorithm>
#include <memory>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/cli/child.h"
#include "src/cli/command.h"
#include "src/cli/gate_binaries.h"
#include "src/cli/gate_variants.h"
#include "src/cli/interrupt.h"
#include "src/cli/margins.h"
#include "src/cli/open_cases.h"
#include "src/cli/options.h"
#include "src/cli/variants.h"
#include "src/cli/write_verdicts.h"
#include "src/compare/margins_file.h"

namespace rope_bench {
namespace {

constexpr int64_t kVariantRounds = 10, kBinaryRounds = 5;

struct GateFlags {
  CaseOptions cases;
  std::string device = "auto", base, base_variant, slowdown;
  std::optional<uint64_t> rounds;
  MarginFlags margins;
  bool exit_zero = false;
  std::vector<std::string> outputs;
};

int64_t rounds_of(const GateFlags& flags) {
  if (!flags.rounds) return flags.base.empty() ? kVariantRounds : kBinaryRounds;
  return static_cast<int64_t>(*flags.rounds);
}

// Of any op, on any device.
void require_variant(const char* flag, const std::string& given) {
  std::vector<std::string> names;
  for (const RopeVariant* v : variants()) {
    if (std::find(names.begin(), names.end(), v->name) == names.end()) names.emplace_back(v->name);
  }
  if (std::find(names.begin(), names.end(), given) != names.end()) return;
  const std::string near = nearest(given, names);
  throw ConfigError(fmt::format("{} {}: no such variant; allowed: {}{}", flag, given,
                                fmt::join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

GateRules rules_of(const GateFlags& flags) {
  GateRules rules;
  rules.margin = parse_percent("--margin", flags.margins.margin);
  rules.floor_us = parse_microseconds("--floor", flags.margins.floor);
  return rules;
}

void add_own_margins(const std::string& file, const std::string& device_model, GateRules* rules) {
  const auto margins = std::make_shared<Margins>(read_margins(file));
  require_margins_of(*margins, file, device_model);
  rules->own_margin = [margins](const GateCase& c) {
    const CaseMargin* own = margins->find(c.name, c.variant, c.dtype, c.cache);
    return own ? own->gate : 0;
  };
}

std::vector<GateVerdict> gate_variants(Runner& runner, const GateFlags& flags,
                                       const std::vector<RopeCase>& cases, const GateRules& rules) {
  AbRun how;
  how.base = flags.base_variant;
  how.rounds = rounds_of(flags);
  if (!flags.slowdown.empty()) how.slow_every = parse_slowdown("--inject-slowdown", flags.slowdown);
  const std::vector<GateCase> first = run_ab(runner, cases, how);
  return decide(first, rules, [&](const std::vector<size_t>& indices) {
    std::vector<RopeCase> chosen;
    for (const size_t i : indices) chosen.push_back(cases[i]);
    AbRun again = how;
    again.rounds = 2 * how.rounds;
    std::vector<GateCase> rows = run_ab(runner, chosen, again);
    rows.resize(chosen.size());  // interrupted: without rounds
    return rows;
  });
}

std::vector<GateVerdict> gate_binaries(const GateFlags& flags, const std::vector<RopeCase>& cases,
                                       const GateRules& rules) {
  BinaryPair pair;
  pair.base = flags.base;
  pair.now = this_program();
  pair.cases = case_arguments(flags.cases, flags.device);
  pair.most_seconds = most_seconds_of(cases);
  if (!flags.slowdown.empty()) pair.only_now = {"--inject-slowdown", flags.slowdown};
  const std::vector<GateCase> first = run_binaries(pair, rounds_of(flags));
  return decide(first, rules, [&](const std::vector<size_t>& indices) {
    std::vector<std::string> names;
    for (const size_t i : indices) names.push_back(first[i].name);
    CaseOptions of_these = flags.cases;
    of_these.filter = filter_of(names);
    BinaryPair these = pair;
    these.cases = case_arguments(of_these, flags.device);
    const std::vector<GateCase> rows = run_binaries(these, 2 * rounds_of(flags));
    // Both cache modes of a case come back, in their own order.
    std::vector<GateCase> chosen(indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      chosen[i].name = first[indices[i]].name;
      chosen[i].cache = first[indices[i]].cache;
      for (const GateCase& row : rows) {
        if (row.name == first[indices[i]].name && row.cache == first[indices[i]].cache)
          chosen[i] = row;
      }
    }
    return chosen;
  });
}

ExitCode run_gate(const GateFlags& flags) {
  if (flags.base.empty() == flags.base_variant.empty())
    throw ConfigError("gate needs one of --base BINARY and --base-variant NAME");
  const std::vector<OutputTarget> targets = parse_outputs(flags.outputs, verdict_formats());
  if (!flags.base_variant.empty()) require_variant("--base-variant", flags.base_variant);
  if (!flags.slowdown.empty()) parse_slowdown("--inject-slowdown", flags.slowdown);
  const DeviceChoice choice = parse_device(flags.device);
  GateRules rules = rules_of(flags);
  const std::optional<OpenCases> open = open_cases(flags.cases, choice);
  if (!open) return ExitCode::kNothingRan;
  const std::vector<RopeCase>& cases = open->config.cases;
  Runner& runner = *open->runner;
  if (!flags.margins.file.empty())
    add_own_margins(flags.margins.file, runner.device_info().model, &rules);
  catch_interrupt();
  const std::vector<GateVerdict> verdicts =
      flags.base.empty() ? gate_variants(runner, flags, one_cache_each(cases), rules)
                         : gate_binaries(flags, cases, rules);
  if (interrupted()) {
    write_stderr("rope-bench: interrupted: no verdict\n");
    return ExitCode::kInterrupted;
  }
  write_verdict_table(table_of(verdicts, rules), targets);
  return flags.exit_zero ? ExitCode::kGood : exit_code_of(verdicts);
}

}  // namespace

Action setup_gate(Flags& flags) {
  const auto values = std::make_shared<GateFlags>();
  add_case_flags(flags, values->cases);
  add_device_flag(flags, values->device);
  flags.text("--base", values->base, "another rope-bench, to compare this one with",
             FlagGroup::kWhatToDo, "BINARY");
  flags.text("--base-variant", values->base_variant, "the variant to compare each case's own with",
             FlagGroup::kWhatToDo, "NAME");
  flags.whole_number(
      "--rounds", values->rounds,
      "rounds of A B B A; variants: 10, binaries: 5; twice as many for what is measured again",
      FlagGroup::kWhatToDo, {2, 10000});
  flags.text("--inject-slowdown", values->slowdown,
             "plant a slowdown in what is judged, to see the gate fire", FlagGroup::kWhatToDo,
             "PERCENT");
  add_margin_flags(flags, values->margins);
  flags.toggle("--exit-zero", values->exit_zero, "exit with 0 whatever the verdicts: a report",
               FlagGroup::kWhatToDo);
  add_output_flag(flags, values->outputs, verdict_formats());
  return [values](const Invocation&) { return run_gate(*values); };
}

}  // namespace rope_bench
