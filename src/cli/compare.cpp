// `compare`: a verdict per case of two results files.
#include "src/compare/compare.h"

#include <algorithm>
#include <memory>

#include "fmt/format.h"
#include "src/cli/command.h"
#include "src/cli/margins.h"
#include "src/cli/options.h"
#include "src/cli/write_verdicts.h"
#include "src/compare/comparison_columns.h"
#include "src/compare/likeness.h"

namespace rope_bench {
namespace {

struct CompareFlags {
  std::string base, now;
  MarginFlags margins;
  bool force = false, exit_zero = false, update_baseline = false;
  std::vector<std::string> outputs;
};

// Only what is not worse may become what others are measured by.
void update_baseline(const ResultsFile& base, const ResultsFile& now, ExitCode code) {
  const bool slowed = std::any_of(now.rows.begin(), now.rows.end(), is_slowed);
  if (slowed || code != ExitCode::kGood) {
    write_stderr(fmt::format(
        "rope-bench: {} is kept: {}\n", base.path,
        slowed ? fmt::format("a slowdown is planted in {}", now.path) : "not every case passed"));
    return;
  }
  write_file(base.path, now.content);
  write_stderr(fmt::format("rope-bench: {} now holds the results of {}\n", base.path, now.path));
}

ExitCode run_compare(const CompareFlags& flags) {
  if (flags.base.empty() || flags.now.empty())
    throw ConfigError("compare needs two results files: rope-bench compare BASE NEW");
  CompareOptions options;
  options.margin = parse_percent("--margin", flags.margins.margin);
  options.floor_us = parse_microseconds("--floor", flags.margins.floor);
  options.force = flags.force;
  if (!flags.margins.file.empty()) options.margins = read_margins(flags.margins.file);
  const std::vector<OutputTarget> targets = parse_outputs(flags.outputs, verdict_formats());
  for (const std::string& input : {flags.base, flags.now}) require_apart(targets, input);
  const ResultsFile base = read_results(flags.base), now = read_results(flags.now);
  if (!flags.margins.file.empty() && !now.rows.empty()) {
    require_margins_of(options.margins, flags.margins.file, now.rows.front()[Field::kDeviceModel]);
  }
  if (flags.update_baseline) {
    require_writable(flags.base);
    if (base.format != now.format) {
      throw ConfigError(
          fmt::format("--update-baseline: {} is {}, {} is {}; allowed: the same format", base.path,
                      name(base.format), now.path, name(now.format)));
    }
  }
  const Comparison comparison = compare(base, now, options);
  for (const std::string& note : comparison.notes)
    write_stderr(fmt::format("rope-bench: {}\n", note));
  write_verdict_table(table_of(comparison), targets);
  const ExitCode code = exit_code_of(comparison);
  if (code == ExitCode::kNothingRan)
    write_stderr(fmt::format("rope-bench: {} and {} have no common case\n", base.path, now.path));
  if (flags.update_baseline) update_baseline(base, now, code);
  return flags.exit_zero ? ExitCode::kGood : code;
}

}  // namespace

Action setup_compare(Flags& flags) {
  const auto values = std::make_shared<CompareFlags>();
  flags.word("BASE", values->base, "results to compare with: JSON, JSON lines or CSV of a run");
  flags.word("NEW", values->now, "results to judge, likewise");
  add_margin_flags(flags, values->margins);
  flags.toggle("--force", values->force,
               "compare although cards, configs, bytes or schemas differ; says which",
               FlagGroup::kWhatToDo);
  flags.toggle("--exit-zero", values->exit_zero, "exit with 0 whatever the verdicts: a report",
               FlagGroup::kWhatToDo);
  flags.toggle("--update-baseline", values->update_baseline,
               "make NEW the new BASE if every case passes", FlagGroup::kWhatToDo);
  add_output_flag(flags, values->outputs, verdict_formats());
  return [values](const Invocation&) { return run_compare(*values); };
}

}  // namespace rope_bench
