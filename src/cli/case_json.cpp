#include "src/cli/case_json.h"

#include <cmath>

#include "nlohmann/json.hpp"
#include "src/case/axes.h"
#include "src/case/operands.h"
#include "src/case/positions.h"
#include "src/cli/variants.h"

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

Json norm_json(const RopeCase& c) {
  if (!has_norm(c)) return nullptr;
  return {{"eps", c.norm.eps},
          {"weight", c.norm.weight},
          {"weight_offset", c.norm.weight_offset},
          {"span", c.norm.span_row ? "row" : "head"},
          {"order", c.norm.after_rotation ? "after" : "before"},
          {"round_between", c.norm.round_between}};
}

// Buffers and, for each operand, where it lies in one.
Json side_json(const Side& side) {
  static constexpr const char* kOperands[] = {"q", "k", "v"};
  Json buffers = Json::object(), operands = Json::object();
  for (const OperandBuffer& buffer : side.buffers) buffers[buffer.name] = buffer.elements;
  for (size_t i = 0; i < side.views.size(); ++i) {
    const OperandView& view = side.views[i];
    if (view.buffer < 0) continue;
    operands[kOperands[i]] = {{"buffer", side.buffers[static_cast<size_t>(view.buffer)].name},
                              {"offset", view.offset},
                              {"token_stride", view.token_stride},
                              {"head_stride", view.head_stride},
                              {"batch_stride", view.batch_stride}};
  }
  return {{"buffer_elements", std::move(buffers)}, {"operands", std::move(operands)}};
}

Json layout_json(const RopeCase& c) {
  const Operands operands = operands_of(c);
  return {{"order", c.layout.heads_tokens_dim ? "heads_tokens_dim" : "tokens_heads_dim"},
          {"in_place", operands.in_place},
          {"in", side_json(operands.in)},
          {"out", operands.in_place ? Json(nullptr) : side_json(operands.out)}};
}

Json sequences_json(const RopeCase& c) {
  if (c.op != Op::kVarlenSplitRope) return nullptr;
  return {{"count", c.num_sequences()},
          {"longest", longest_sequence(c)},
          {"source", c.varlen.source},
          {"output", c.varlen.padded_output ? "padded" : "packed"},
          {"padded_length", is_padded(c) ? Json(padded_length_of(c)) : Json(nullptr)}};
}

Json bytes_json(const ByteCount& bytes) {
  return {{"read", bytes.read},
          {"write", bytes.write},
          {"table", bytes.table},
          {"positions", bytes.positions},
          {"total", bytes.total()}};
}

// A row of results for each of these.
Json cache_json(const RopeCase& c) {
  Json modes = Json::array();
  for (CacheMode mode : c.measure.cache) modes.push_back(name(mode));
  return modes;
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
               {"cache", cache_json(c)},
               {"num_tokens", c.num_tokens()},
               {"num_padding_tokens", c.num_tokens() - c.num_real_tokens()},
               {"model",
                {{"num_heads", c.num_heads},
                 {"num_kv_heads", c.num_kv_heads},
                 {"head_dim", c.head_dim},
                 {"max_position", or_null(c.max_position)},
                 {"batch", c.batch}}}};
  if (!c.skip_reason.empty()) {
    for (const char* key : {"rope", "norm", "qkv_bias", "layout", "sequences"}) json[key] = nullptr;
    json["bytes"] = nullptr;
    json["speed_of_light_us"] = nullptr;
    json["skip_reason"] = c.skip_reason;
    return json;
  }
  const ByteCount bytes = bytes_of(c, uses_table(c));
  json["rope"] = rope_json(c);
  json["norm"] = norm_json(c);
  json["qkv_bias"] = has_bias(c);
  json["layout"] = layout_json(c);
  json["sequences"] = sequences_json(c);
  json["bytes"] = bytes_json(bytes);
  json["speed_of_light_us"] =
      peak_gb_s ? Json(speed_of_light_us(bytes, *peak_gb_s)) : Json(nullptr);
  json["skip_reason"] = nullptr;
  return json;
}

}  // namespace rope_bench
