#include "src/cli/write_verdicts.h"

#include "src/cli/document.h"

namespace rope_bench {

void write_verdict_table(const VerdictTable& table, const std::vector<OutputTarget>& targets) {
  OutputErrors errors;
  for (const bool to_stdout : {false, true}) {
    for (const OutputTarget& target : targets) {
      if (target.is_stdout() != to_stdout) continue;
      const std::string text = write_verdicts(table, target.format, to_stdout && color_on_stdout());
      errors.attempt([&] { write_target(target, text); });
    }
  }
  if (!stdout_target(targets)) {
    errors.attempt([&] { write_stdout(write_verdicts(table, "table", color_on_stdout())); });
  } else if (stdout_target(targets)->format != "table") {
    write_stderr(table.summary);
  }
  errors.raise();
}

}  // namespace rope_bench
