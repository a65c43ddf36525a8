#include "src/report/cells.h"
#include "src/report/csv_field.h"
#include "src/report/writers.h"

namespace rope_bench {
namespace {

template <class Text>
std::string line(Text text_of) {
  std::string out;
  for (const Column& column : columns()) {
    if (!out.empty()) out += ',';
    out += csv_field(text_of(column));
  }
  // RFC 4180 ends lines with CRLF.
  return out + "\r\n";
}

}  // namespace

std::string write_csv(const RunReport& report, const ReportContext&) {
  std::string out = line(csv_name);
  for (const Result& row : report.results) {
    out += line([&](const Column& column) { return plain_text(column.get(row, report)); });
  }
  return out;
}

}  // namespace rope_bench
