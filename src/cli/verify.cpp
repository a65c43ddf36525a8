// `verify`: verdict, blame and diagnosis of an output that somebody else computed.
#include <memory>

#include "fmt/format.h"
#include "kernels/cpu/thread_pool.h"
#include "nlohmann/json.hpp"
#include "src/case/token_rows.h"
#include "src/cli/case_json.h"
#include "src/cli/command.h"
#include "src/cli/document.h"
#include "src/cli/options.h"
#include "src/cli/verify_files.h"
#include "src/math/diagnosis.h"
#include "src/math/input_warnings.h"
#include "src/math/reference.h"
#include "src/math/table_norm.h"
#include "src/measure/invariants.h"
#include "src/measure/supported.h"
#include "src/report/details.h"
#include "src/report/format.h"
#include "src/report/numbers.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  CaseOptions cases;
  VerifyPaths paths;
  std::vector<std::string> outputs;
  bool verbose = false;
};

// What the variant of the config promises, if it is one that promises something else.
RopeVariant promised_by(const RopeCase& c) {
  RopeVariant variant{};
  variant.struct_size = sizeof(variant);
  variant.op = static_cast<int32_t>(c.op);
  variant.uses_table = c.variant.starts_with("on_the_fly") ? 0 : 1;
  variant.precision = c.variant == "unfused"                ? ROPE_PRECISION_UNFUSED
                      : c.variant == "on_the_fly_fast_math" ? ROPE_PRECISION_FAST_MATH
                                                            : ROPE_PRECISION_FUSED;
  variant.name = "verify";
  return variant;
}

// The files say how many tokens there are: cases that differ in nothing else are one.
RopeCase the_case(const CaseOptions& options) {
  const LoadedConfig config = select_cases(options);
  if (config.cases.empty()) throw ConfigError(nothing_selected(options));
  const auto key = [](const RopeCase& c) {
    RopeCase same = c;
    same.name.clear();
    same.tokens = 1;
    same.batch = 1;
    same.layout.in_place = false;
    same.positions = {};
    same.measure = {};
    return case_json(same, {}).dump();
  };
  const RopeCase& first = config.cases.front();
  if (!first.skip_reason.empty()) throw ConfigError(first.name + ": " + first.skip_reason);
  for (const RopeCase& c : config.cases) {
    if (key(c) == key(first)) continue;
    throw ConfigError(
        fmt::format("verify: {} and {} are different cases; --filter or --set must leave one",
                    first.name, c.name));
  }
  if (!options.overrides.axis.empty()) {
    throw ConfigError(
        fmt::format("--axis {}: verify judges one case; allowed: --set KEY=VALUE (how many tokens "
                    "there are, the files say)",
                    options.overrides.axis.front()));
  }
  return first;
}

Result judge(const VerifyFiles& files) {
  const RopeCase& c = files.rope_case();
  if (const std::string reason = why_unsupported(c); !reason.empty())
    throw ConfigError("verify: " + reason);
  const RopeVariant variant = promised_by(c);
  Result result;
  result.rope_case = c;
  result.device = "files";
  result.status = Status::kPassed;
  result.accuracy = check_launch(c, variant, files.table(), files.launch(), available_threads());
  result.labels = input_warnings(c, files.launch());
  if (!why_no_rotation(files.table(), token_rows_of(c).table_rows).empty())
    result.labels.emplace_back("not-a-rotation");
  result.invariants = find_invariants(c, variant, files.table(), files.launch());
  const Accuracy& a = *result.accuracy;
  if (a.num_over > 0) {
    result.status = Status::kFailed;
    result.reason =
        fmt::format("{} beyond their bound", counted(static_cast<size_t>(a.num_over), "element"));
    result.diagnosis = diagnose(c, variant, files.launch(), std::nullopt, a.worst);
  }
  if (a.table_max_abs > a.table_tolerance) {
    result.status = Status::kFailed;
    result.reason += (result.reason.empty() ? "" : "; ");
    result.reason += "the cos-sin table is beyond its bound";
    if (result.diagnosis.name.empty()) result.diagnosis = to_diagnosis(evidence::kTable);
  }
  return result;
}

std::string verdict_text(const Result& row) {
  const RopeCase& c = row.rope_case;
  const Accuracy& a = *row.accuracy;
  std::vector<std::vector<std::string>> rows = {
      {"case", fmt::format("{} {} {}, {} tokens, {} / {} heads of {}, rotary_dim {}", name(c.op),
                           info(c.rope.pairing).name, info(c.dtype).name, c.num_tokens(),
                           c.num_heads, c.num_kv_heads, c.head_dim, c.rope.rotary_dim)},
      {"verdict", name(row.status)},
      {"kernel error", fmt::format("{} ULP of {} allowed, max abs {:.3g}, RMS {:.3g}, NMSE {:.3g}",
                                   significant4(a.max_ulp), significant4(a.tolerance_ulp),
                                   a.kernel_max_abs, a.kernel_rms, a.kernel_nmse)},
      {"table error", fmt::format("{:.3g} of {:.3g} allowed, {} angles", a.table_max_abs,
                                  a.table_tolerance, name(c.rope.table.angle))},
      {"elements", fmt::format("{} compared, {} correctly rounded, {} over their bound",
                               a.num_compared, a.num_correctly_rounded, a.num_over)},
      {"total error", fmt::format("{:.3g} against exact angles (not judged)", a.total_max_abs)}};
  if (a.worst) rows.push_back({"worst element", to_text(*a.worst)});
  for (const Invariant& i : row.invariants) {
    if (i.name == "norms_kept") rows.push_back({"norms kept", to_text(i)});
  }
  if (!row.reason.empty()) rows.push_back({"reason", row.reason});
  if (!row.diagnosis.name.empty())
    rows.push_back({"diagnosis", row.diagnosis.name + ": " + row.diagnosis.text});
  for (const std::string& label : row.labels) {
    rows.push_back({"warning", label + (label == "not-a-rotation"
                                            ? ": lengths of pairs change and are not checked"
                                            : ": these inputs cannot tell every wrong output")});
  }
  return text_rows({"what", "value"}, rows);
}

ExitCode run_verify(const VerifyOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, document_formats());
  const VerifyFiles files(options.paths, the_case(options.cases));
  const Result row = judge(files);
  const RunReport report;
  write_document(
      targets,
      [&] {
        return verdict_text(row) +
               (options.verbose ? worst_text(row.accuracy->worst_elements) : std::string());
      },
      [&] { return row_json(row, report); });
  return row.status == Status::kPassed ? ExitCode::kGood : ExitCode::kWrong;
}

}  // namespace

Action setup_verify(Flags& flags) {
  const auto options = std::make_shared<VerifyOptions>();
  add_case_flags(flags, options->cases);
  VerifyPaths& p = options->paths;
  const struct {
    const char* name;
    std::string& path;
    const char* help;
  } files[] = {
      {"--q", p.q, "input q [tokens, heads, head_dim], or a batch of these"},
      {"--k", p.k, "input k, likewise"},
      {"--v", p.v, "input v, to be compared with --v-out"},
      {"--qkv", p.qkv, "packed input instead of them: heads of q, k and v in one row"},
      {"--q-out", p.q_out, "what was computed for q"},
      {"--k-out", p.k_out, "what was computed for k"},
      {"--v-out", p.v_out, "what was computed for v"},
      {"--qkv-out", p.qkv_out, "packed output instead of them: gradients, split ops in place"},
      {"--positions", p.positions, "position of every token; without it those of the config"},
      {"--table", p.table, "the table it was computed with [rows, rotary_dim], cosines then sines"},
      {"--bias", p.bias, "bias of the heads of q, k and v"},
      {"--q-weight", p.q_weight, "weights of q's norm"},
      {"--k-weight", p.k_weight, "weights of k's norm"},
  };
  for (const auto& file : files)
    flags.text(file.name, file.path, file.help, FlagGroup::kWhatToDo, "FILE.npy");
  add_output_flag(flags, options->outputs, document_formats());
  flags.toggle("-v,--verbose", options->verbose, "also the ten worst elements", FlagGroup::kOutput);
  return [options](const Invocation&) { return run_verify(*options); };
}

}  // namespace rope_bench
