#include "src/cli/table_document.h"

#include <cmath>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/axes.h"
#include "src/cli/case_json.h"
#include "src/cli/document.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

Json details_json(const Frequencies& f) {
  Json json = Json::object();
  for (const ScalingDetail& detail : f.details) {
    const double* number = std::get_if<double>(&detail.value);
    if (number) json[detail.name] = number_json(*number);
    if (!number) std::visit([&](const auto& value) { json[detail.name] = value; }, detail.value);
  }
  return json;
}

Json segments_json(const TableReading& reading) {
  Json json = Json::array();
  const bool exact = reading.c.rope.table.angle == TableAngle::kExact;
  for (const FrequencySegment& segment : reading.frequencies.segments) {
    std::vector<double> inv_freq(segment.float32.begin(), segment.float32.end());
    for (size_t i = 0; exact && i < inv_freq.size(); ++i) {
      inv_freq[i] = static_cast<double>(segment.exact[i]);
    }
    json.push_back({{"first_row", segment.first_row},
                    {"first_position", segment.first_position},
                    {"inv_freq", inv_freq}});
  }
  return json;
}

std::vector<std::string> axis_letters(const RopeCase& c) {
  const std::vector<std::string> names = axis_names(c.rope.axes);
  std::vector<std::string> letters;
  for (const uint8_t axis : axis_of_pairs(c)) letters.push_back(names[axis]);
  return letters;
}

Json rows_json(const TableReading& reading) {
  Json rows = Json::array();
  for (const ReadRow& row : reading.rows) {
    Json json = {{"position", row.at.size() == 1 ? Json(row.at[0]) : Json(row.at)}};
    if (row.table != "table") {
      json["table"] = row.table;
      json["row"] = row.row;
    }
    if (reading.c.rope.query_scale) json["query_factor"] = row.query_factor;
    json["table_max_abs"] = row.max_abs;
    json["cos"] = row.cosines;
    json["sin"] = row.sines;
    rows.push_back(std::move(json));
  }
  return rows;
}

// What the two readings of a --versus each have.
void add_reading(const TableReading& reading, Json* json) {
  (*json)["scaling"] = scaling_json(reading.c.rope.scaling);
  (*json)["attention_factor"] = reading.frequencies.attention_factor;
  (*json)["details"] = details_json(reading.frequencies);
  (*json)["inv_freq"] = reading.inv_freq;
  (*json)["segments"] = segments_json(reading);
  (*json)["rows"] = rows_json(reading);
}

LargestDifference difference(const TableDocument& document) {
  return largest_difference(document.reading.inv_freq, document.versus->inv_freq);
}

double largest_error(const TableReading& reading) {
  double largest = 0;
  for (const ReadRow& row : reading.rows) largest = std::max(largest, row.max_abs);
  return largest;
}

std::string digits17(double value) { return fmt::format("{:.17g}", value); }

// "inv_freq" and every inner quantity that has a value per pair, such as yarn's ramp, are columns.
std::string pairs_text(const TableDocument& document) {
  const TableReading& reading = document.reading;
  std::vector<std::string> heading = {"pair"};
  const std::vector<std::string> axes = axis_letters(reading.c);
  if (!axes.empty()) heading.emplace_back("axis");
  heading.emplace_back("inv_freq");
  std::vector<const std::vector<double>*> columns = {&reading.inv_freq};
  for (const ScalingDetail& detail : reading.frequencies.details) {
    const auto* list = std::get_if<std::vector<double>>(&detail.value);
    if (!list || list->size() != reading.inv_freq.size()) continue;
    heading.push_back(detail.name);
    columns.push_back(list);
  }
  if (document.versus) {
    heading.emplace_back("versus");
    columns.push_back(&document.versus->inv_freq);
  }
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < reading.inv_freq.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("{}", i));
    if (!axes.empty()) row.push_back(axes[i]);
    for (const std::vector<double>* column : columns) row.push_back(digits17((*column)[i]));
  }
  return text_rows(heading, rows, {0});
}

std::string rows_text(const TableReading& reading) {
  const bool named = !reading.rows.empty() && reading.rows[0].table != "table";
  std::vector<std::string> heading = {"position", "pair", "cos", "sin"};
  std::vector<size_t> right = {0, 1, 2, 3};
  if (named) {
    heading = {"table", "row", "position", "pair", "cos", "sin"};
    right = {1, 2, 3, 4, 5};
  }
  std::vector<std::vector<std::string>> rows;
  for (const ReadRow& read : reading.rows) {
    for (size_t i = 0; i < read.cosines.size(); ++i) {
      std::vector<std::string>& row = rows.emplace_back();
      if (named) row = {read.table, fmt::format("{}", read.row)};
      row.insert(row.end(), {fmt::format("{}", fmt::join(read.at, ":")), fmt::format("{}", i),
                             digits17(read.cosines[i]), digits17(read.sines[i])});
    }
  }
  return text_rows(heading, rows, right);
}

// Inner quantities that are no columns, one line each.
std::string details_text(const TableReading& reading, const char* label) {
  std::string text;
  const Json details = details_json(reading.frequencies);
  for (const auto& [key, value] : details.items()) {
    const bool column = value.is_array() && value.size() == reading.inv_freq.size();
    if (!column || *label) text += fmt::format("{}{}: {}\n", label, key, value.dump());
  }
  return text;
}

std::string setting_text(const TableReading& reading) {
  const Rope& rope = reading.c.rope;
  std::string text;
  if (rope.axes.kind != "none") {
    text +=
        fmt::format("axes {}: {}; positions are {}\n", rope.axes.kind,
                    fmt::join(axis_letters(reading.c), ""), fmt::join(axis_names(rope.axes), ":"));
  }
  if (rope.reversed) text += "direction reversed: sines are negated\n";
  if (rope.query_scale) {
    std::string factors;
    for (const ReadRow& row : reading.rows) {
      if (!factors.empty() && row.table != reading.rows[0].table) continue;
      factors += fmt::format(" {} at {},", digits17(row.query_factor), fmt::join(row.at, ":"));
    }
    if (!factors.empty()) factors.back() = '\n';
    text += "query_scale: queries alone are multiplied by" + factors;
  }
  text += fmt::format(
      "table error: {:.3g}, the largest |{} table with {} angles - exact| of the rows "
      "below\n",
      largest_error(reading), info(rope.table.dtype).name, name(rope.table.angle));
  return text;
}

std::string versus_text(const TableDocument& document) {
  const TableReading& other = *document.versus;
  const LargestDifference largest = difference(document);
  return fmt::format("\nversus scaling {}, attention_factor {}\n",
                     scaling_json(other.c.rope.scaling).dump(),
                     digits17(other.frequencies.attention_factor)) +
         details_text(other, "versus ") +
         fmt::format("largest relative difference of inv_freq: {:.6g} at pair {}\n",
                     largest.relative, largest.pair) +
         fmt::format("attention_factor: {} against {}\n",
                     digits17(document.reading.frequencies.attention_factor),
                     digits17(other.frequencies.attention_factor));
}

}  // namespace

Json table_json(const TableDocument& document) {
  const TableReading& reading = document.reading;
  const Rope& rope = reading.c.rope;
  Json json = {{"config", reading.c.config},
               {"pairing", info(rope.pairing).name},
               {"rotary_dim", rope.rotary_dim},
               {"theta", rope.theta},
               {"angle", name(rope.table.angle)},
               {"dtype", info(rope.table.dtype).name},
               {"direction", rope.reversed ? "reversed" : "forward"},
               {"axes", nullptr},
               {"table_max_abs", largest_error(reading)}};
  if (rope.axes.kind != "none") {
    json["axes"] = {{"kind", rope.axes.kind},
                    {"names", axis_names(rope.axes)},
                    {"axis_of_pair", axis_letters(reading.c)}};
  }
  add_reading(reading, &json);
  if (document.versus) {
    const LargestDifference largest = difference(document);
    Json versus = Json::object();
    add_reading(*document.versus, &versus);
    // JSON has no infinity: null where a pair turns in one reading only.
    versus["max_relative_difference"] =
        std::isfinite(largest.relative) ? Json(largest.relative) : Json();
    versus["max_relative_difference_pair"] = largest.pair;
    json["versus"] = std::move(versus);
  }
  return json;
}

std::string table_text(const TableDocument& document) {
  const TableReading& reading = document.reading;
  const Rope& rope = reading.c.rope;
  std::string text =
      fmt::format("{}: {}, rotary_dim {}, theta {}, scaling {}, {} angles, attention_factor {}\n",
                  reading.c.config, info(rope.pairing).name, rope.rotary_dim, rope.theta,
                  scaling_json(rope.scaling).dump(), name(rope.table.angle),
                  digits17(reading.frequencies.attention_factor));
  text += details_text(reading, "") + setting_text(reading);
  if (document.versus) text += versus_text(document);
  text += '\n' + pairs_text(document) + '\n' + rows_text(reading);
  if (document.versus) text += "\nrows of the other reading\n" + rows_text(*document.versus);
  return text;
}

}  // namespace rope_bench
