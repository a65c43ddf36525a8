#include "src/cli/cli.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/cli/build_info.h"
#include "src/cli/command.h"
#include "src/cli/interrupt.h"
#include "src/hf/hf.h"
#include "src/measure/runner.h"
#include "src/report/output.h"

namespace rope_bench {
namespace {

const Command kCommands[] = {
    {"run", "--config FILE|NAME | --hf FILE|FOLDER [flags]",
     "check, then measure, then report; the default command",
     "rope-bench --config llama7b.json\n"
     "rope-bench --config llama7b --axis tokens=1-4096*4 --set dtype=f16 -o csv:sweep.csv\n"
     "rope-bench --config smoke --device cpu --no-measure -o json\n"
     "rope-bench --hf ~/models/Qwen3-8B --set dtype=f16",
     setup_run},
    {"list", "KIND", "what there is: ops, variants, pairings, scalings, configs, formats ...",
     "rope-bench list configs\nrope-bench list variants -o json", setup_list},
    {"describe", "--config FILE|NAME | --hf FILE|FOLDER [flags]",
     "resolved cases: shapes, bytes by stream, speed-of-light time",
     "rope-bench describe --config llama7b --board h200\n"
     "rope-bench describe --hf ~/models/*/config.json",
     setup_describe},
    {"table", "--config FILE|NAME | --hf FILE|FOLDER [flags]",
     "frequencies, attention factor and cos/sin rows, without a GPU",
     "rope-bench table --config llama7b --positions 0,1,4095 -o json", setup_table},
    {"verify", "--config FILE|NAME | --hf FILE|FOLDER --q FILE --k FILE --q-out FILE --k-out FILE",
     "verdict and diagnosis of an output that something else computed, from .npy files",
     "rope-bench verify --config llama7b --q q.npy --k k.npy --q-out qr.npy --k-out kr.npy\n"
     "rope-bench verify --hf ~/models/Qwen3-8B --set dtype=f32 --set op=rope --q q.npy --k k.npy "
     "--q-out qr.npy --k-out kr.npy",
     setup_verify},
    {"compare", "BASE NEW [flags]", "verdict per case of two results files, exit code for CI",
     "rope-bench compare base.json new.json\n"
     "rope-bench compare base.json new.json --margin 3% -o markdown:summary.md",
     setup_compare},
    {"gate", "--base BINARY | --base-variant NAME --config FILE|NAME [flags]",
     "two binaries or two variants in one session, round by round: is one slower?",
     "rope-bench gate --base ./rope-bench.before --config llama7b\n"
     "rope-bench gate --base-variant naive --config llama7b --rounds 20",
     setup_gate},
    {"calibrate", "--config FILE|NAME | --hf FILE|FOLDER [flags]",
     "every case against itself: noise, false alarms, smallest slowdown found, margins",
     "rope-bench calibrate --config llama7b --write margins.json", setup_calibrate},
    {"selftest", "[flags]", "planted faults: each must be caught, and right kernels must pass",
     "rope-bench selftest --device cpu\nrope-bench selftest -o json", setup_selftest},
    {"env", "[flags]", "this machine and this build", "rope-bench env -o json", setup_env},
    {"schema", "config|results", "JSON Schema of configs or of results", "rope-bench schema config",
     setup_schema},
};

std::string version_text() {
  const ToolInfo tool = build_info();
  std::string build = tool.commit.empty() ? "no commit" : "commit " + tool.commit;
  if (tool.dirty) build += ", dirty";
  return fmt::format("rope-bench {} ({})\nCUDA toolkit: {}\ncompiler: {}\n", tool.version, build,
                     tool.cuda_toolkit.empty() ? "none" : tool.cuda_toolkit, tool.compiler);
}

std::string indented(const std::string& lines) {
  std::string out = "  ";
  for (char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + "\n";
}

std::string command_help(const Command& command, const Flags& flags) {
  return fmt::format("{}\n\nUsage: rope-bench {} {}\n\nExamples:\n{}{}", command.summary,
                     command.name, command.usage, indented(command.examples), flags.help());
}

std::string program_help(const Flags& run_flags) {
  std::string out = fmt::format(
      "rope-bench {}: is a RoPE kernel right, and how far is it from what the device can do?\n\n"
      "Usage: rope-bench [run] --config FILE|NAME | --hf FILE|FOLDER [flags]\n"
      "       rope-bench COMMAND [flags]\n\nCommands:\n",
      build_info().version);
  for (const Command& command : kCommands) {
    out += fmt::format("  {:<10}{}\n", command.name, command.summary);
  }
  out += "\nExamples:\n";
  for (const Command& command : kCommands) out += indented(command.examples);
  out += "\nFlags of run (`rope-bench COMMAND --help` shows those of others):\n" + run_flags.help();
  return out +
         "\nExit codes: 0 good, 1 a result was wrong, 2 usage or config error, 3 slower than the\n"
         "baseline, 4 inconclusive, 5 nothing ran or no common case,\n"
         "6 CUDA or internal error, 77 no usable GPU, 130 interrupted.\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

const Command* find_command(const std::string& name) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& command) { return name == command.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

[[noreturn]] void refuse_word(const std::string& word) {
  if (find_command(word)) {
    throw ConfigError(fmt::format("the command comes first: rope-bench {} ...", word));
  }
  if (word == "help" || word == "version") {
    throw ConfigError(fmt::format("unknown command \"{0}\"; did you mean --{0}?", word));
  }
  const std::string near = nearest(word, command_names());
  const bool is_config = word.ends_with(".json") || std::filesystem::exists(word);
  const std::vector<std::string> configs = shipped_configs();
  if (is_config || (near.empty() && std::count(configs.begin(), configs.end(), word))) {
    throw ConfigError(fmt::format("unexpected \"{0}\"; did you mean --config {0}?", word));
  }
  throw ConfigError(fmt::format("unknown command \"{}\"; commands: {}{}", word,
                                fmt::join(command_names(), ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

// Why a command has no --device; empty for flags that are merely unknown.
std::string why_no_device(const Command& command, const std::string& flag) {
  if (!flag.starts_with("-d") && flag != "--device") return "";
  if (command.setup == setup_describe) {
    return fmt::format(
        "{}: describe runs nothing; --board NAME says whose bandwidth it uses, "
        "without it that of the GPU here",
        flag);
  }
  if (command.setup == setup_table) {
    return fmt::format("{}: table is computed on the CPU and depends on no device", flag);
  }
  return "";
}

// What CLI11 could not place: flags that do not exist and words too many.
void refuse_extras(const Command& command, const Flags& flags) {
  for (const std::string& extra : flags.extras()) {
    if (extra.size() > 1 && extra.front() == '-' && extra != "--") {
      const std::string flag = extra.substr(0, extra.find('='));
      if (const std::string why = why_no_device(command, flag); !why.empty()) {
        throw ConfigError(why);
      }
      // Any letter is near any other.
      throw ConfigError(
          fmt::format("unknown flag {} of {}{}", flag, command.name,
                      flag.size() > 2 ? did_you_mean(flag, flags.names()) : std::string()));
    }
    const size_t equals = extra.find('=');
    if (equals != std::string::npos && equals > 0 && !flags.given("--config").empty()) {
      throw ConfigError(
          fmt::format("unexpected \"{0}\"; every value needs its own flag: --set {0}", extra));
    }
    if (command.setup != setup_run) {
      throw ConfigError(fmt::format("unexpected \"{}\" after {}: see rope-bench {} --help", extra,
                                    command.name, command.name));
    }
    refuse_word(extra);
  }
}

// Flags whose value is a file that is read.
constexpr const char* kInputFlags[] = {"--margins", "--base",     "--q",         "--k",
                                       "--v",       "--qkv",      "--q-out",     "--k-out",
                                       "--v-out",   "--qkv-out",  "--positions", "--table",
                                       "--bias",    "--q-weight", "--k-weight"};

// Here for all commands: an -o or a --write that names a file that is read would replace it.
void require_inputs_are_kept(const Flags& flags) {
  std::vector<OutputTarget> targets;
  for (const std::string& output : flags.given("--output")) {
    const size_t colon = output.find(':');
    if (colon == std::string::npos || colon + 1 == output.size()) continue;
    targets.push_back({output.substr(0, colon), output.substr(colon + 1)});
  }
  const std::vector<std::string> written = flags.given("--write");
  if (targets.empty() && written.empty()) return;
  std::vector<std::string> inputs;
  for (const std::string& config : flags.given("--config")) inputs.push_back(find_config(config));
  for (const std::string& given : flags.given("--hf")) inputs.push_back(find_hf(given).path);
  for (const char* flag : kInputFlags) {
    for (const std::string& file : flags.given(flag)) {
      if (!file.empty()) inputs.push_back(file);
    }
  }
  for (const std::string& input : inputs) {
    require_apart(targets, input);
    for (const std::string& path : written) require_apart("--write " + path, path, input);
  }
  for (const std::string& path : written) {
    for (const OutputTarget& target : targets) require_apart("--write " + path, path, target.path);
  }
}

ExitCode run_command(const Command& command, std::vector<std::string> words, bool bare,
                     const Invocation& invocation) {
  Flags flags;
  bool version = false;
  if (bare) {
    flags.toggle("--version", version, "version, commit, CUDA toolkit and compiler",
                 FlagGroup::kOptions);
  }
  const Action action = command.setup(flags);
  if (flags.parse(std::move(words), command.name) == Flags::Outcome::kHelpWanted) {
    write_stdout(bare ? program_help(flags) : command_help(command, flags));
    return ExitCode::kGood;
  }
  if (version) {
    write_stdout(version_text());
    return ExitCode::kGood;
  }
  refuse_extras(command, flags);
  require_inputs_are_kept(flags);
  return action(invocation);
}

int fail(const std::string& what, ExitCode code) {
  write_stderr(fmt::format("rope-bench: {}\n", what));
  return static_cast<int>(code);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

ExitCode run_cli(const std::vector<std::string>& args) {
  std::vector<std::string> words(args.begin() + (args.empty() ? 0 : 1), args.end());
  const Invocation invocation{args};
  // No command word: `run` is meant.
  if (words.empty() || words.front().starts_with("-")) {
    return run_command(kCommands[0], std::move(words), true, invocation);
  }
  const Command* command = find_command(words.front());
  if (!command) refuse_word(words.front());
  words.erase(words.begin());
  return run_command(*command, std::move(words), false, invocation);
}

int cli_main(const std::vector<std::string>& args) {
  ignore_closed_pipes();
  try {
    return static_cast<int>(run_cli(args));
  } catch (const ConfigError& error) {
    return fail(error.what(), ExitCode::kUsage);
  } catch (const NoGpu& error) {
    return fail(error.what(), ExitCode::kNoGpu);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", ExitCode::kInternal);
  } catch (const std::length_error&) {  // more than a container could ever hold
    return fail("not enough memory", ExitCode::kInternal);
  } catch (const std::exception& error) {
    return fail(error.what(), ExitCode::kInternal);
  }
}

}  // namespace rope_bench
