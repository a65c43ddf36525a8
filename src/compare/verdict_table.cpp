#include "src/compare/verdict_table.h"

#include <stdexcept>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/compare/text.h"
#include "src/report/csv_field.h"
#include "src/report/format.h"
#include "src/report/numbers.h"
#include "src/report/text_table.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const VerdictColumn& column, const VerdictCell& cell) {
  if (const auto* number = std::get_if<double>(&cell))
    return fmt::format("{:.{}f}", *number, column.digits);
  if (const auto* text = std::get_if<std::string>(&cell)) return one_line(*text);
  return "-";
}

Paint paint_of(const VerdictColumn& column, const std::string& text) {
  if (std::string(column.name) != "verdict") return Paint::kNone;
  if (text == "pass" || text == "improvement") return Paint::kGreen;
  return text == "regression" || text == "wrong" ? Paint::kRed : Paint::kYellow;
}

std::string write_table(const VerdictTable& table, bool color) {
  std::vector<Align> alignment;
  std::vector<std::vector<TextCell>> lines(1);
  for (const VerdictColumn& column : table.columns) {
    if (!column.heading) continue;
    alignment.push_back(column.digits > 0 ? Align::kRight : Align::kLeft);
    lines[0].push_back({column.heading});
  }
  for (const std::vector<VerdictCell>& row : table.rows) {
    std::vector<TextCell>& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      const VerdictColumn& column = table.columns[i];
      if (!column.heading) continue;
      const std::string text = shown(column, row[i]);
      line.push_back({text, paint_of(column, text)});
    }
  }
  return (table.rows.empty() ? "" : align_rows(lines, alignment, true, color)) + table.summary;
}

std::string write_markdown(const VerdictTable& table, bool) {
  std::string heading = "|", rule = "|", body;
  for (const VerdictColumn& column : table.columns) {
    if (!column.heading) continue;
    heading += fmt::format(" {} |", column.heading);
    rule += column.digits > 0 ? " ---: |" : " --- |";
  }
  for (const std::vector<VerdictCell>& row : table.rows) {
    body += "|";
    for (size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].heading)
        body += fmt::format(" {} |", markdown_cell(shown(table.columns[i], row[i])));
    }
    body += "\n";
  }
  return fmt::format("**{}**\n\n{}\n{}\n{}\n{}",
                     table.code == ExitCode::kGood ? "pass" : "attention", heading, rule, body,
                     table.summary);
}

std::string write_csv(const VerdictTable& table, bool) {
  std::string out;
  for (const VerdictColumn& column : table.columns)
    out += fmt::format("{}{}", out.empty() ? "" : ",", column.name);
  out += "\r\n";
  for (const std::vector<VerdictCell>& row : table.rows) {
    const char* separator = "";
    for (const VerdictCell& cell : row) {
      out += separator;
      if (const auto* number = std::get_if<double>(&cell)) out += shortest(*number);
      if (const auto* text = std::get_if<std::string>(&cell)) out += csv_field(*text);
      separator = ",";
    }
    out += "\r\n";
  }
  return out;
}

Json cell_json(const VerdictCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return result_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

std::string write_json(const VerdictTable& table, bool) {
  Json json = {{"exit_code", static_cast<int>(table.code)}};
  for (const auto& [key, value] : table.settings) json[key] = result_number(value);
  Json counts = Json::object(), cases = Json::array();
  for (const auto& [key, value] : table.counts) counts[key] = value;
  for (const std::vector<VerdictCell>& row : table.rows) {
    Json& one = cases.emplace_back(Json::object());
    for (size_t i = 0; i < row.size(); ++i) one[table.columns[i].name] = cell_json(row[i]);
  }
  json["counts"] = std::move(counts);
  json["notes"] = table.notes;
  json["cases"] = std::move(cases);
  return dump(json, 2) + "\n";
}

constexpr struct {
  const char* name;
  std::string (*write)(const VerdictTable& table, bool color);
} kFormats[] = {
    {"table", write_table}, {"json", write_json}, {"csv", write_csv}, {"markdown", write_markdown}};

}  // namespace

std::vector<std::string> verdict_formats() {
  std::vector<std::string> names;
  for (const auto& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string write_verdicts(const VerdictTable& table, const std::string& format, bool color) {
  for (const auto& row : kFormats) {
    if (format == row.name) return row.write(table, color);
  }
  throw std::logic_error("no format " + format);
}

}  // namespace rope_bench
