#include "src/cli/case_json.h"

#include <cmath>

#include "nlohmann/json.hpp"
#include "src/case/axes.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json axes_json(const Axes& axes) {
  if (axes.kind == "none") return nullptr;
  return {{"kind", axes.kind}, {"names", axis_names(axes)}, {"section", axes.section}};
}

Json query_scale_json(const std::optional<QueryScale>& scale) {
  if (!scale) return nullptr;
  return {{"beta", scale->beta},
          {"original_max_position_embeddings", scale->original_max_position_embeddings}};
}

Json rope_json(const RopeCase& c) {
  const Rope& rope = c.rope;
  return {{"pairing", info(rope.pairing).name},
          {"rotary_dim", rope.rotary_dim},
          {"theta", rope.theta},
          {"scaling", scaling_json(rope.scaling)},
          {"axes", axes_json(rope.axes)},
          {"direction", rope.reversed ? "reversed" : "forward"},
          {"query_scale", query_scale_json(rope.query_scale)},
          {"seq_len", seq_len_of(c)},
          {"table",
           {{"angle", name(rope.table.angle)},
            {"dtype", info(rope.table.dtype).name},
            {"rows", table_rows_of(c)}}}};
}

Json bytes_json(const ByteCount& bytes) {
  return {{"read", bytes.read},
          {"write", bytes.write},
          {"table", bytes.table},
          {"positions", bytes.positions},
          {"total", bytes.total()}};
}

}  // namespace

double speed_of_light_us(const ByteCount& bytes, double peak_gb_s) {
  return static_cast<double>(bytes.total()) / (peak_gb_s * 1e3);
}

Json number_json(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const bool whole = std::abs(value) <= kExact && std::floor(value) == value;
  return whole ? Json(static_cast<int64_t>(value)) : Json(value);
}

Json scaling_json(const Scaling& scaling) {
  Json json = {{"type", scaling.type}};
  for (const auto& [key, value] : scaling.params) {
    const double* number = std::get_if<double>(&value);
    if (number) json[key] = number_json(*number);
    if (!number) std::visit([&, &name = key](const auto& v) { json[name] = v; }, value);
  }
  return json;
}

Json case_json(const RopeCase& c, std::optional<double> peak_gb_s) {
  Json json = {{"name", c.name},
               {"config", c.config},
               {"op", name(c.op)},
               {"variant", c.variant},
               {"dtype", info(c.dtype).name},
               {"num_tokens", c.num_tokens()},
               {"model",
                {{"num_heads", c.num_heads},
                 {"num_kv_heads", c.num_kv_heads},
                 {"head_dim", c.head_dim},
                 {"max_position", or_null(c.max_position)},
                 {"batch", c.batch}}}};
  if (!c.skip_reason.empty()) {
    json["rope"] = nullptr;
    json["bytes"] = nullptr;
    json["speed_of_light_us"] = nullptr;
    json["skip_reason"] = c.skip_reason;
    return json;
  }
  const ByteCount bytes = bytes_of(c);
  json["rope"] = rope_json(c);
  json["bytes"] = bytes_json(bytes);
  json["speed_of_light_us"] =
      peak_gb_s ? Json(speed_of_light_us(bytes, *peak_gb_s)) : Json(nullptr);
  json["skip_reason"] = nullptr;
  return json;
}

}  // namespace rope_bench
