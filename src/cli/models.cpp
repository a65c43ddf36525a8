#include "src/cli/models.h"

#include <algorithm>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/cli/case_json.h"
#include "src/cli/document.h"
#include "src/math/scaling.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

const ModelFacts* facts_of(const LoadedConfig& config, const RopeCase& c) {
  const ModelFacts* found = nullptr;
  for (const ModelFacts& facts : config.models) {
    const std::string prefix = facts.case_prefix + "/" + name(c.op) + "/";
    if (c.name.starts_with(prefix)) found = &facts;
  }
  return found;
}

Json attention_factor(const RopeCase& c) {
  if (!c.skip_reason.empty() || !unknown_scaling(c).empty()) return nullptr;
  return number_json(frequencies_of(c).attention_factor);
}

// "yarn x40".
std::string scaling_word(const Json& scaling) {
  std::string text = scaling.at("type");
  for (const char* key : {"factor", "alpha"}) {
    if (scaling.contains(key)) text += fmt::format(" x{}", scaling.at(key).dump());
  }
  return text;
}

}  // namespace

Json models_json(const LoadedConfig& config) {
  Json rows = Json::array();
  for (const RopeCase& c : config.cases) {
    const ModelFacts* facts = facts_of(config, c);
    if (!facts) continue;
    const bool alone = config.models.size() == 1;
    const std::string& prefix = facts->case_prefix;
    const size_t slash = prefix.find('/');
    Json row = {{"name", alone || slash == std::string::npos ? prefix : prefix.substr(slash + 1)},
                {"model_type", facts->model_type},
                {"pairing", info(c.rope.pairing).name},
                {"num_heads", c.num_heads},
                {"num_kv_heads", c.num_kv_heads},
                {"head_dim", c.head_dim},
                {"rotary_dim", c.rope.rotary_dim},
                {"theta", number_json(c.rope.theta)},
                {"scaling", scaling_json(c.rope.scaling)},
                {"attention_factor", attention_factor(c)},
                {"axes", c.rope.axes.kind},
                {"max_position", c.max_position ? Json(*c.max_position) : Json()},
                {"qk_norm", facts->qk_norm},
                {"dtype", info(c.dtype).name}};
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
  }
  return rows;
}

std::string models_text(const LoadedConfig& config) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : models_json(config)) {
    const auto word = [&](const char* key) {
      const Json& value = row.at(key);
      return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
    };
    rows.push_back({word("name"), word("model_type"), word("pairing"),
                    word("num_heads") + "/" + word("num_kv_heads"),
                    word("rotary_dim") + "/" + word("head_dim"), word("theta"),
                    scaling_word(row.at("scaling")), word("attention_factor"), word("axes"),
                    word("max_position"), word("qk_norm"), word("dtype")});
  }
  return text_rows({"model", "model_type", "pairing", "heads", "dims", "theta", "scaling", "af",
                    "axes", "max_position", "qk_norm", "dtype"},
                   rows, {3, 4, 5, 7, 9});
}

}  // namespace rope_bench
