#include <memory>

#include "fmt/format.h"
#include "src/case/config.h"
#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/math/scaling.h"
#include "src/report/format.h"
#include "src/report/output.h"

namespace rope_bench {
namespace {

struct SchemaOptions {
  std::string of;
  std::vector<std::string> outputs;
};

ExitCode run_schema(const SchemaOptions& options) {
  const std::vector<OutputTarget> targets = parse_outputs(options.outputs, {"json"});
  std::string schema;
  if (options.of == "config") {
    schema = config_schema(scaling_catalog());
  } else if (options.of == "results") {
    schema = results_schema();
  } else {
    const std::string near = nearest(options.of, {"config", "results"});
    throw ConfigError(fmt::format("schema {}: allowed are config and results{}",
                                  options.of.empty() ? "without a name" : options.of,
                                  near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  if (!schema.ends_with('\n')) schema += '\n';
  for (const OutputTarget& target : targets) write_target(target, schema);
  if (targets.empty()) write_stdout(schema);
  return ExitCode::kGood;
}

}  // namespace

Action setup_schema(Flags& flags) {
  const auto options = std::make_shared<SchemaOptions>();
  flags.word("NAME", options->of, "config or results");
  add_output_flag(flags, options->outputs, {"json"});
  return [options](const Invocation&) { return run_schema(*options); };
}

}  // namespace rope_bench
