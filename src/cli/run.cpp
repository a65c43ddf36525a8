// `run`: parse everything, load the config, open the device, check and measure, report.
#include <unistd.h>

#include <ctime>
#include <memory>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/build_info.h"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/interrupt.h"
#include "src/cli/options.h"
#include "src/cli/progress.h"
#include "src/measure/runner.h"
#include "src/report/numbers.h"
#include "src/report/output.h"
#include "src/report/summary.h"

namespace rope_bench {
namespace {

struct RunFlags {
  CaseOptions cases;
  std::string device = "auto";
  bool require_gpu = false, dry_run = false, no_check = false, no_measure = false;
  std::vector<std::string> outputs;
  Verbosity verbosity;
};

DeviceChoice wanted_device(const RunFlags& flags) {
  DeviceChoice choice = parse_device(flags.device);
  if (!flags.require_gpu) return choice;
  if (choice.kind == DeviceChoice::Kind::kCpu) {
    throw ConfigError("--require-gpu and --device cpu contradict each other");
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
  if (!flags.verbosity.quiet) fmt::print(stderr, "rope-bench: {}\n", text);
}

ExitCode dry_run(const RunFlags& flags, const LoadedConfig& config,
                 const std::vector<OutputTarget>& targets) {
  const OutputTarget* stdout_format = stdout_target(targets);
  if (stdout_format && stdout_format->format == "json") {
    nlohmann::ordered_json cases = nlohmann::ordered_json::array();
    for (const RopeCase& c : config.cases) cases.push_back(case_json(c, {}));
    write_stdout(dump({{"cases", std::move(cases)}, {"notes", config.warnings}}, 2) + "\n");
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const RopeCase& c : config.cases) {
      rows.push_back(
          {c.name, name(c.op), c.variant, info(c.dtype).name, fmt::format("{}", c.num_tokens()),
           c.skip_reason.empty() ? human_bytes(bytes_of(c).total()) : "skipped: " + c.skip_reason});
    }
    write_stdout(text_rows({"case", "op", "variant", "dtype", "tokens", "bytes"}, rows, {4}));
  }
  const char* what = flags.no_check     ? "measured"
                     : flags.no_measure ? "checked"
                                        : "checked and measured";
  note(flags, fmt::format("{} would be {} on device {}; nothing was run",
                          counted(config.cases.size(), "case"), what, flags.device));
  return ExitCode::kGood;
}

// Rows as they come in: kept for the documents, streamed to formats whose rows stand alone.
class RowSink {
 public:
  RowSink(RunReport& report, const std::vector<OutputTarget>& targets) : report_(report) {
    for (const OutputTarget& target : targets) {
      const Format& format = format_named(target.format);
      if (format.write_row) {
        streams_.push_back({&format, std::make_unique<LineFile>(target)});
      }
    }
  }
  void add(const Result& row) {
    report_.results.push_back(row);
    for (const Stream& stream : streams_) stream.file->add(stream.format->write_row(row, report_));
  }

 private:
  struct Stream {
    const Format* format;
    std::unique_ptr<LineFile> file;
  };
  RunReport& report_;
  std::vector<Stream> streams_;
};

// Runs all cases; fills report.results row by row, so that they are there whatever ends the run.
void run_cases(const RunFlags& flags, Runner& runner, const std::vector<RopeCase>& cases,
               const std::vector<OutputTarget>& targets, RunReport& report) {
  RowSink sink(report, targets);
  Progress progress(progress_mode(flags));
  std::string current;
  size_t done = 0;
  RunOptions options;
  options.check = !flags.no_check;
  options.measure = !flags.no_measure;
  options.on_start = [&](const RopeCase& c, size_t index, size_t total) {
    current = c.name;
    done = index;
    progress.update(current, done, total);
  };
  options.on_result = [&](const Result& row, size_t, size_t) {
    sink.add(row);
    if (!flags.verbosity.verbose) return;
    progress.clear();
    fmt::print(stderr, "{}: {}\n", row.rope_case.name, name(row.status));
  };
  options.interrupted = [&] {
    // Polled between rounds: also the moment to show how far a long case has come.
    progress.update(current, done, cases.size());
    return interrupted();
  };
  catch_interrupt();
  runner.run(cases, options);
}

void write_report(const RunFlags& flags, const RunReport& report, const ReportContext& context,
                  const std::vector<OutputTarget>& targets) {
  const bool claimed = stdout_target(targets) != nullptr;
  const std::string closing = hints(report) + verdict(report) + "\n";
  if (!claimed) write_stdout(format_named("table").write(report, context) + closing);
  for (const OutputTarget& target : targets) {
    const Format& format = format_named(target.format);
    // Streamed rows are written already.
    if (!format.write_row || report.results.empty()) {
      ReportContext plain = context;
      plain.color = context.color && target.is_stdout();
      write_target(target, format.write(report, plain));
    }
  }
  if (claimed && !flags.verbosity.quiet) fmt::print(stderr, "{}", closing);
}

ExitCode run(const RunFlags& flags, const Invocation& invocation) {
  const DeviceChoice choice = wanted_device(flags);
  if (flags.no_check && flags.no_measure) {
    throw ConfigError("--no-check and --no-measure leave nothing to do; --dry-run lists the cases");
  }
  const std::vector<OutputTarget> targets = parse_outputs(flags.outputs, format_names());
  const LoadedConfig config = select_cases(flags.cases);
  for (const std::string& warning : config.warnings) note(flags, warning);
  if (config.cases.empty()) {
    fmt::print(stderr, "rope-bench: {}\n", nothing_selected(flags.cases));
    return ExitCode::kNothingRan;
  }
  if (flags.dry_run) return dry_run(flags, config, targets);

  RunReport report;
  report.config_text = config.resolved_json;
  report.command_line = invocation.command_line;
  const ReportContext context{build_info(), utc_now(), color_on_stdout()};
  const std::unique_ptr<Runner> runner = Runner::open(choice, &report.notes);
  for (const std::string& text : report.notes) note(flags, text);
  report.notes.insert(report.notes.begin(), config.warnings.begin(), config.warnings.end());
  report.device = runner->device_info();
  if (flags.verbosity.verbose) {
    note(flags, fmt::format("{}: {} on {} ({})", config.path, counted(config.cases.size(), "case"),
                            report.device.device, report.device.model));
  }
  try {
    run_cases(flags, *runner, config.cases, targets, report);
  } catch (...) {
    // What is finished is kept, then the error speaks.
    report.device = runner->device_info();
    write_report(flags, report, context, targets);
    throw;
  }
  report.interrupted = interrupted();
  report.device = runner->device_info();
  write_report(flags, report, context, targets);
  return exit_code_of(report);
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
  add_output_flag(flags, values->outputs, format_names());
  add_verbosity_flags(flags, values->verbosity);
  return [values](const Invocation& invocation) { return run(*values, invocation); };
}

}  // namespace rope_bench
