#include "src/cli/open_cases.h"

#include "fmt/format.h"
#include "src/report/output.h"

namespace rope_bench {

std::optional<OpenCases> open_cases(const CaseOptions& cases, const DeviceChoice& device) {
  const auto say = [](const std::string& text) {
    write_stderr(fmt::format("rope-bench: {}\n", text));
  };
  OpenCases open;
  open.config = select_cases(cases);
  for (const ConfigNote& note : notes_of(open.config)) {
    if (note.warning) say(to_text(note));
  }
  if (open.config.cases.empty()) {
    say(nothing_selected(cases));
    return std::nullopt;
  }
  std::vector<std::string> notes;
  open.runner = Runner::open(device, &notes);
  for (const std::string& note : notes) say(note);
  return open;
}

}  // namespace rope_bench
