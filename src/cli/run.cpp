// `run`: parse everything, load the config, open the device, check and measure, report.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/boards.h"
#include "src/cli/build_info.h"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/interrupt.h"
#include "src/cli/margins.h"
#include "src/cli/ncu_line.h"
#include "src/cli/options.h"
#include "src/cli/progress.h"
#include "src/cli/variants.h"
#include "src/measure/runner.h"
#include "src/report/details.h"
#include "src/report/fusion.h"
#include "src/report/numbers.h"
#include "src/report/output.h"
#include "src/report/summary.h"
#include "src/report/timing_details.h"

namespace rope_bench {
namespace {

struct RunFlags {
  CaseOptions cases;
  std::string device = "auto";
  bool require_gpu = false, dry_run = false, no_check = false, no_measure = false, profile = false;
  std::string slowdown;  // empty: none
  std::vector<std::string> outputs;
  Verbosity verbosity;
};

DeviceChoice wanted_device(const RunFlags& flags) {
  DeviceChoice choice = parse_device(flags.device);
  if (!flags.require_gpu && !flags.profile) return choice;
  if (choice.kind == DeviceChoice::Kind::kCpu) {
    throw ConfigError(
        flags.require_gpu
            ? "--require-gpu and --device cpu contradict each other"
            : "--profile marks launches for NVIDIA's profilers; with --device cpu use "
              "a sampling profiler on a run with --no-check");
  }
  choice.kind = DeviceChoice::Kind::kCuda;
  return choice;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

Progress::Mode progress_mode(const RunFlags& flags) {
  if (flags.verbosity.quiet) return Progress::Mode::kOff;
  return isatty(STDERR_FILENO) ? Progress::Mode::kTerminal : Progress::Mode::kLog;
}

void note(const RunFlags& flags, const std::string& text) {
  if (!flags.verbosity.quiet) write_stderr(fmt::format("rope-bench: {}\n", text));
}

// Of the formats of results, a list of cases has two.
void require_dry_run_formats(const std::vector<OutputTarget>& targets) {
  for (const OutputTarget& target : targets) {
    if (target.format == "json" || target.format == "table") continue;
    throw ConfigError(fmt::format(
        "-o {}: --dry-run has no results to write; allowed with it: table, json", target.format));
  }
}

std::string dry_run_table(const LoadedConfig& config) {
  std::vector<std::vector<std::string>> rows;
  std::string skipped;
  for (const RopeCase& c : config.cases) {
    const bool runs = c.skip_reason.empty();
    rows.push_back({c.name, name(c.op), c.variant, info(c.dtype).name,
                    fmt::format("{}", c.num_tokens()),
                    runs ? human_bytes(bytes_of(c, uses_table(c)).total()) : "skipped"});
    if (!runs) skipped += fmt::format("skipped {}: {}\n", c.name, c.skip_reason);
  }
  return text_rows({"case", "op", "variant", "dtype", "tokens", "bytes"}, rows, {4, 5}) + skipped;
}

ExitCode dry_run(const RunFlags& flags, const LoadedConfig& config,
                 std::vector<OutputTarget> targets) {
  if (!stdout_target(targets)) targets.push_back({"table", "-"});
  write_document(
      targets, [&] { return dry_run_table(config); },
      [&] {
        nlohmann::ordered_json cases = nlohmann::ordered_json::array();
        for (const RopeCase& c : config.cases) cases.push_back(case_json(c, {}));
        return nlohmann::ordered_json{{"cases", std::move(cases)},
                                      {"notes", notes_json(notes_of(config))}};
      });
  const char* what = flags.profile      ? "launched once for a profiler"
                     : flags.no_check   ? "measured"
                     : flags.no_measure ? "checked"
                                        : "checked and measured";
  note(flags, fmt::format("{} would be {} on device {}; nothing was run",
                          counted(config.cases.size(), "case"), what, flags.device));
  return ExitCode::kGood;
}

// Formats that have room for what a row says beyond its columns.
bool shows_details(const std::vector<OutputTarget>& targets) {
  return std::any_of(targets.begin(), targets.end(), [](const OutputTarget& target) {
    return target.format == "json" || target.format == "jsonl";
  });
}

// Rows as they come in: kept for the documents, streamed to formats whose rows stand alone.
class RowSink {
 public:
  RowSink(RunReport& report, const std::vector<OutputTarget>& targets, OutputErrors& errors)
      : report_(report), errors_(errors) {
    for (const OutputTarget& target : targets) {
      const Format& format = format_named(target.format);
      if (format.write_row) {
        streams_.push_back({&format, std::make_unique<LineFile>(target)});
      }
    }
  }
  void add(const Result& row) {
    report_.results.push_back(row);
    // A stream that failed once is not tried again: its file has a gap already.
    std::erase_if(streams_, [&](const Stream& stream) {
      bool written = false;
      errors_.attempt([&] {
        stream.file->add(stream.format->write_row(row, report_));
        written = true;
      });
      return !written;
    });
  }

 private:
  struct Stream {
    const Format* format;
    std::unique_ptr<LineFile> file;
  };
  RunReport& report_;
  OutputErrors& errors_;
  std::vector<Stream> streams_;
};

// Runs all cases; fills report.results row by row, so that they are there whatever ends the run.
// `finish` writes them where a device that hangs ends the process right here.
void run_cases(const RunFlags& flags, Runner& runner, const std::vector<RopeCase>& cases,
               const std::vector<OutputTarget>& targets, RunReport& report, OutputErrors& errors,
               const std::function<void()>& finish) {
  RowSink sink(report, targets, errors);
  Progress progress(progress_mode(flags));
  std::string current;
  size_t done = 0;
  RunOptions options;
  options.check = !flags.no_check;
  options.measure = !flags.no_measure;
  options.checks.invariants = flags.verbosity.verbose || shows_details(targets);
  options.profile = flags.profile;
  if (!flags.slowdown.empty())
    options.slow_every = parse_slowdown("--inject-slowdown", flags.slowdown);
  options.on_start = [&](const RopeCase& c, size_t index, size_t total) {
    current = c.name;
    done = index;
    progress.update(current, done, total);
  };
  options.on_result = [&](const Result& row, size_t, size_t) {
    report.device = runner.device_info();  // peaks and floor are measured when the first row is
    sink.add(row);
    if (!flags.verbosity.verbose) return;
    progress.clear();
    write_stderr(timing_text(row, runner.device_info()) + details_text(row));
  };
  options.interrupted = [&] {
    // Polled between rounds: also the moment to show how far a long case has come.
    progress.update(current, done, cases.size());
    return interrupted();
  };
  options.on_hang = [&](bool was_interrupted) {
    progress.clear();
    report.interrupted = was_interrupted;
    finish();
    std::fflush(nullptr);
    // Without destructors and exit handlers: those of CUDA would wait for the device.
    std::_Exit(static_cast<int>(was_interrupted ? ExitCode::kInterrupted : ExitCode::kInternal));
  };
  catch_interrupt();
  runner.run(cases, options);
}

// Files first: whatever becomes of stdout, they are written.
void write_report(const RunFlags& flags, const RunReport& report, const ReportContext& context,
                  const std::vector<OutputTarget>& targets, OutputErrors& errors) {
  const auto write = [&](const OutputTarget& target) {
    const Format& format = format_named(target.format);
    if (format.write_row && !report.results.empty()) return;  // streamed already
    ReportContext plain = context;
    plain.color = context.color && target.is_stdout();
    errors.attempt([&] { write_target(target, format.write(report, plain)); });
  };
  for (const OutputTarget& target : targets) {
    if (!target.is_stdout()) write(target);
  }
  const std::string closing = fusion_lines(report) + hints(report) + verdict(report) + "\n";
  if (const OutputTarget* claimed = stdout_target(targets)) {
    write(*claimed);
    if (!flags.verbosity.quiet) write_stderr(closing);
  } else {
    errors.attempt([&] { write_stdout(format_named("table").write(report, context) + closing); });
  }
}

ExitCode run(const RunFlags& flags, const Invocation& invocation) {
  const DeviceChoice choice = wanted_device(flags);
  if (flags.verbosity.quiet && flags.verbosity.verbose) {
    throw ConfigError("--quiet and --verbose contradict each other");
  }
  if (flags.no_check && flags.no_measure) {
    throw ConfigError("--no-check and --no-measure leave nothing to do; --dry-run lists the cases");
  }
  if (!flags.slowdown.empty()) {
    parse_slowdown("--inject-slowdown", flags.slowdown);
    if (flags.no_measure || flags.profile) {
      throw ConfigError(
          "--inject-slowdown changes what is timed; with --no-measure or --profile nothing is");
    }
  }
  const std::vector<OutputTarget> targets = parse_outputs(flags.outputs, format_names());
  if (flags.dry_run) require_dry_run_formats(targets);
  const LoadedConfig config = select_cases(flags.cases);
  const std::vector<ConfigNote> notes = notes_of(config);
  for (const ConfigNote& said : notes) {
    if (said.warning || flags.verbosity.verbose) note(flags, to_text(said));
  }
  if (config.cases.empty()) {
    write_stderr(fmt::format("rope-bench: {}\n", nothing_selected(flags.cases)));
    return ExitCode::kNothingRan;
  }
  if (flags.dry_run) return dry_run(flags, config, targets);

  RunReport report;
  report.config_text = config.resolved_json;
  report.command_line = invocation.command_line;
  report.num_cases = config.cases.size();
  for (const RopeCase& c : config.cases) report.num_rows += c.measure.cache.size();
  const ReportContext context{build_info(), utc_now(), color_on_stdout()};
  const std::unique_ptr<Runner> runner = Runner::open(choice, &report.notes);
  if (const std::string text = peak_note(runner->device_info()); !text.empty())
    report.notes.push_back(text);
  for (const std::string& text : report.notes) note(flags, text);
  for (auto said = notes.rbegin(); said != notes.rend(); ++said) {
    if (said->warning) report.notes.insert(report.notes.begin(), to_text(*said));
  }
  report.device = runner->device_info();
  if (flags.verbosity.verbose) {
    note(flags, fmt::format("{}: {} on {} ({})", config.path, counted(config.cases.size(), "case"),
                            report.device.device, report.device.model));
  }
  if (flags.profile) note(flags, "profile with: " + ncu_line(invocation.command_line));
  OutputErrors errors;
  const auto finish = [&] {
    report.device = runner->device_info();
    write_report(flags, report, context, targets, errors);
    if (errors.any()) write_stderr(fmt::format("rope-bench: {}\n", errors.text()));
  };
  try {
    run_cases(flags, *runner, config.cases, targets, report, errors, finish);
  } catch (...) {
    // What is finished is kept, then the error speaks.
    finish();
    throw;
  }
  report.interrupted = interrupted();
  finish();
  const ExitCode code = exit_code_of(report);
  return errors.any() && code != ExitCode::kInterrupted ? ExitCode::kInternal : code;
}

}  // namespace

Action setup_run(Flags& flags) {
  const auto values = std::make_shared<RunFlags>();
  add_case_flags(flags, values->cases);
  add_device_flag(flags, values->device);
  flags.toggle("--require-gpu", values->require_gpu, "exit with 77 instead of using the CPU",
               FlagGroup::kDevice);
  flags.toggle("-n,--dry-run", values->dry_run, "list the cases and stop; touches no device",
               FlagGroup::kWhatToDo);
  flags.toggle("--no-check", values->no_check, "measure only; rows are `unchecked`",
               FlagGroup::kWhatToDo);
  flags.toggle("--no-measure", values->no_measure, "check only; times are absent",
               FlagGroup::kWhatToDo);
  flags.toggle("--profile", values->profile,
               "one launch per row inside an NVTX range, for ncu; neither checks nor measures",
               FlagGroup::kWhatToDo);
  flags.text("--inject-slowdown", values->slowdown,
             "plant a slowdown: scratch launches are timed too, rows are labelled `slowed`",
             FlagGroup::kWhatToDo, "PERCENT");
  add_output_flag(flags, values->outputs, format_names());
  add_verbosity_flags(flags, values->verbosity);
  return [values](const Invocation& invocation) { return run(*values, invocation); };
}

}  // namespace rope_bench
