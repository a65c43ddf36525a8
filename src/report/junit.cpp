#include <algorithm>

#include "fmt/format.h"
#include "src/report/cells.h"
#include "src/report/escape.h"
#include "src/report/summary.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

// What becomes of a status; an empty element: a test that passed.
struct Outcome {
  const char* element = "";
  const char* type = "";
};

Outcome outcome_of(Status status) {
  switch (status) {
    case Status::kFailed:
      return {"failure", "wrong result"};
    case Status::kError:
      return {"error", "error"};
    case Status::kUnsupported:
    case Status::kSkipped:
    case Status::kOutOfMemory:
      return {"skipped", name(status)};
    case Status::kPassed:
    case Status::kUnchecked:
      break;
  }
  return {};
}

size_t count_of(const RunReport& report, const std::string& element) {
  return static_cast<size_t>(
      std::count_if(report.results.begin(), report.results.end(),
                    [&](const Result& row) { return outcome_of(row.status).element == element; }));
}

std::string counts(const RunReport& report) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                     report.results.size(), count_of(report, "failure"), count_of(report, "error"),
                     count_of(report, "skipped"));
}

std::string property(const std::string& indent, const std::string& name, const std::string& value) {
  return fmt::format("{}<property name=\"{}\" value=\"{}\"/>\n", indent, xml_escaped(name),
                     xml_escaped(value));
}

// What the terminal table shows of a row, but for its name, and in full precision.
std::string properties_of(const Result& row, const RunReport& report) {
  std::string text;
  for (const Column* column : headed_columns()) {
    const Cell cell = column->get(row, report);
    if (column == &columns().front() || std::holds_alternative<std::monostate>(cell)) continue;
    text += property("        ", column->name, plain_text(cell));
  }
  return "      <properties>\n" + text + "      </properties>\n";
}

std::string outcome_text(const Result& row) {
  const Outcome outcome = outcome_of(row.status);
  if (*outcome.element == '\0') return "";
  const std::string message = row.status == Status::kFailed ? failure_text(row) : row.reason;
  const std::string open = fmt::format("      <{} type=\"{}\" message=\"{}\"", outcome.element,
                                       outcome.type, xml_escaped(message));
  if (row.diagnosis.name.empty()) return open + "/>\n";
  return fmt::format("{}>{}: {}</{}>\n", open, xml_escaped(row.diagnosis.name),
                     xml_escaped(row.diagnosis.text), outcome.element);
}

std::string test_case(const Result& row, const RunReport& report) {
  const RopeCase& c = row.rope_case;
  return fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\">\n{}{}    </testcase>\n",
                     xml_escaped(c.config.empty() ? "rope-bench" : c.config), name(c.op),
                     xml_escaped(row_name(row)), properties_of(row, report), outcome_text(row));
}

}  // namespace

// No `time`: a test's duration is not what was measured, and a launch's time is not its duration.
std::string write_junit(const RunReport& report, const ReportContext& context) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"rope-bench\" {}>\n", counts(report));
  text += fmt::format("  <testsuite name=\"rope-bench {}\" timestamp=\"{}\" {}>\n",
                      xml_escaped(report.device.device), context.started_utc, counts(report));
  text += "    <properties>\n";
  text += property("      ", "version", context.tool.version);
  text += property("      ", "device", report.device.device);
  text += property("      ", "device_model", report.device.model);
  text += "    </properties>\n";
  for (const Result& row : report.results) text += test_case(row, report);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace rope_bench
