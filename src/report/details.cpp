#include "src/report/details.h"

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/report/format.h"
#include "src/report/numbers.h"
#include "src/report/text_table.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) {
  return value ? result_number(*value) : Json(nullptr);
}

Json histogram_json(const UlpHistogram& histogram) {
  Json from = Json::array();
  for (size_t bin = 0; bin < UlpHistogram::kBins; ++bin) from.push_back(UlpHistogram::from(bin));
  return {{"from_ulp", std::move(from)}, {"count", histogram.counts}};
}

Json element_json(const WorstElement& e) {
  return {{"tensor", e.tensor},
          {"token", e.token},
          {"head", e.head},
          {"dim", e.dim},
          {"got", result_number(e.got)},
          {"want", result_number(e.want)},
          {"ulp", result_number(e.ulp)},
          {"bound_ratio", result_number(e.bound_ratio)},
          {"x", result_number(e.x)},
          {"y", optional_json(e.y)},
          {"cos", optional_json(e.cosine)},
          {"sin", optional_json(e.sine)}};
}

Json invariant_json(const Invariant& i) {
  const bool applies = i.holds != Holds::kNotApplicable;
  return {{"name", i.name},
          {"holds", name(i.holds)},
          {"value", applies ? result_number(i.value) : Json(nullptr)},
          {"tolerance", applies ? result_number(i.tolerance) : Json(nullptr)},
          {"reason", i.reason.empty() ? Json(nullptr) : Json(i.reason)}};
}

Json rounds_json(const Timing& t) {
  const bool has_limit = !t.round_limits_us.empty();
  return {{"time_us", t.round_times_us},
          {"limit_us", has_limit ? Json(t.round_limits_us) : Json(nullptr)}};
}

template <typename T>
Json array_json(const std::vector<T>& values, Json (*json)(const T&)) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(json(value));
  return array;
}

Json typed(const char* type) { return {{"type", type}}; }
Json number_schema() { return {{"$ref", "#/$defs/number"}}; }
Json or_null(Json schema) { return {{"anyOf", Json::array({std::move(schema), typed("null")})}}; }
Json array_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json object_schema(Json properties) {
  Json required = Json::array();
  for (const auto& [key, schema] : properties.items()) required.push_back(key);
  return {
      {"type", "object"}, {"required", std::move(required)}, {"properties", std::move(properties)}};
}
Json described(Json schema, const char* description) {
  schema["description"] = description;
  return schema;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<Align> alignment(rows[0].size(), Align::kRight);
  for (size_t i = 0; i < left; ++i) alignment[i] = Align::kLeft;
  std::vector<std::vector<TextCell>> cells;
  for (const std::vector<std::string>& row : rows) {
    std::vector<TextCell>& line = cells.emplace_back();
    for (const std::string& word : row) line.push_back({word});
  }
  std::string text;
  const std::string lines = align_rows(cells, alignment, false, false);
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at) + 1;
    text += "    " + lines.substr(at, end - at);
    at = end;
  }
  return text;
}

std::string invariants_text(const std::vector<Invariant>& invariants) {
  if (invariants.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const Invariant& i : invariants) {
    rows.push_back({i.name, to_text(i)});
  }
  return "  invariants of the outputs alone:\n" + table_text(rows, 2);
}

}  // namespace

std::string worst_text(const std::vector<WorstElement>& elements) {
  if (elements.empty()) return "  worst elements: none is off at all\n";
  const auto optional = [](const std::optional<double>& value) {
    return value ? shortest(*value) : "-";
  };
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "token", "head", "dim", "got", "want", "ULP", "of bound", "x", "y", "cos", "sin"}};
  for (const WorstElement& e : elements) {
    rows.push_back({e.tensor, fmt::format("{}", e.token), fmt::format("{}", e.head),
                    fmt::format("{}", e.dim), shortest(e.got), shortest(e.want),
                    significant4(e.ulp), significant4(e.bound_ratio), shortest(e.x), optional(e.y),
                    optional(e.cosine), optional(e.sine)});
  }
  return "  worst elements:\n" + table_text(rows, 1);
}

std::string to_text(const Invariant& i) {
  if (i.holds == Holds::kNotApplicable) return "not applicable: " + i.reason;
  return fmt::format("{}, {:.3g} of {:.3g} allowed", name(i.holds), i.value, i.tolerance);
}

Json details_json(const Result& row) {
  Json json = {{"ulp_histogram", nullptr},
               {"worst_elements", nullptr},
               {"invariants", nullptr},
               {"rounds", nullptr}};
  if (row.accuracy) {
    json["ulp_histogram"] = histogram_json(row.accuracy->ulp_histogram);
    json["worst_elements"] = array_json(row.accuracy->worst_elements, element_json);
  }
  if (!row.invariants.empty()) json["invariants"] = array_json(row.invariants, invariant_json);
  if (row.timing) json["rounds"] = rounds_json(*row.timing);
  return json;
}

Json details_schema() {
  const Json element = object_schema({{"tensor", typed("string")},
                                      {"token", typed("integer")},
                                      {"head", typed("integer")},
                                      {"dim", typed("integer")},
                                      {"got", number_schema()},
                                      {"want", number_schema()},
                                      {"ulp", number_schema()},
                                      {"bound_ratio", number_schema()},
                                      {"x", number_schema()},
                                      {"y", or_null(number_schema())},
                                      {"cos", or_null(number_schema())},
                                      {"sin", or_null(number_schema())}});
  const Json invariant =
      object_schema({{"name", typed("string")},
                     {"holds", {{"enum", {"held", "violated", "not_applicable"}}}},
                     {"value", or_null(number_schema())},
                     {"tolerance", or_null(number_schema())},
                     {"reason", or_null(typed("string"))}});
  return {{"ulp_histogram",
           described(or_null(object_schema({{"from_ulp", array_schema(typed("number"))},
                                            {"count", array_schema(typed("integer"))}})),
                     "elements of num_compared by their error: count[i] from from_ulp[i] to below "
                     "the next, infinite ones in the last")},
          {"worst_elements", described(or_null(array_schema(element)),
                                       "the ten with the largest error over their bound, members "
                                       "as in worst")},
          {"invariants", described(or_null(array_schema(invariant)),
                                   "properties of rotations, found in outputs alone; null where "
                                   "nobody asked")},
          {"rounds",
           described(or_null(object_schema({{"time_us", array_schema(typed("number"))},
                                            {"limit_us", or_null(array_schema(typed("number")))}})),
                     "what medians and intervals are of: time per launch in each round that "
                     "counts, in the order in which they were measured")}};
}

std::string details_text(const Result& row) {
  if (!row.accuracy) return "";
  const Accuracy& a = *row.accuracy;
  std::string text =
      a.sampled ? fmt::format("  compared: a sample of {} tokens in double; all {} on the device",
                              a.num_tokens_compared, row.rope_case.num_real_tokens())
                : fmt::format("  compared: all {} tokens in double", a.num_tokens_compared);
  text += fmt::format(", {} angles\n", name(a.reference_angle));
  text +=
      fmt::format("  kernel error: {} ULP of {} allowed, max abs {:.3g}, RMS {:.3g}, NMSE {:.3g}\n",
                  significant4(a.max_ulp), significant4(a.tolerance_ulp), a.kernel_max_abs,
                  a.kernel_rms, a.kernel_nmse);
  text += fmt::format("  elements: {}, {} correctly rounded, {} over their bound\n", a.num_compared,
                      a.num_correctly_rounded, a.num_over);
  text += fmt::format("  table error: {:.3g} of {:.3g} allowed; total error: {:.3g}\n",
                      a.table_max_abs, a.table_tolerance, a.total_max_abs);
  return text + worst_text(a.worst_elements) + invariants_text(row.invariants);
}

}  // namespace rope_bench
