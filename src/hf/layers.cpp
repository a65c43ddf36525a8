// What a file says of its layers: which parameter set each has, and which do not rotate at all.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

// How many layers have each type; empty without layer_types.
std::map<std::string, size_t> count_types(Model& model) {
  std::map<std::string, size_t> counts;
  const Node* types = model.fields.find("layer_types");
  if (!types || !types->list()) return counts;
  for (const Node& type : *types->list()) {
    if (type.text()) ++counts[*type.text()];
  }
  return counts;
}

// llama4, smollm3: 1 rotates, 0 does not.
bool note_listed(Model& model) {
  const Node* list = model.fields.find("no_rope_layers");
  if (!list || !list->list() || list->list()->empty()) return false;
  std::string layers;
  size_t count = 0;
  for (size_t i = 0; i < list->list()->size(); ++i) {
    const std::optional<double> rotates = number_or_text((*list->list())[i]);
    if (!rotates || *rotates != 0) continue;
    if (++count <= 8) layers += fmt::format("{}{}", count > 1 ? ", " : "", i);
  }
  if (count > 0) {
    model.context.notes->info(model.fields.trace("no_rope_layers").pointer,
                              fmt::format("{} of {} layers have no RoPE: {}{}", count,
                                          list->list()->size(), layers, count > 8 ? ", ..." : ""));
  }
  return true;
}

}  // namespace

void note_layers(Model& model, const std::vector<RopeSet>& sets) {
  Notes& notes = *model.context.notes;
  const auto counts = count_types(model);
  size_t layers = 0;
  for (const auto& [type, count] : counts) layers += count;
  for (const RopeSet& set : sets) {
    if (set.name.empty() || counts.empty()) continue;
    const std::string at = model.fields.trace("layer_types").pointer;
    if (const auto found = counts.find(set.name); found != counts.end()) {
      notes.info(at, fmt::format("{}: {} of {} layers", pointer_token(set.name).substr(1),
                                 found->second, layers));
    } else if (set.name != "layers") {
      notes.warn(at, fmt::format("no layer is of type {}, which has parameters",
                                 pointer_token(set.name).substr(1)));
    }
  }
  const auto interval = model.fields.integer({"no_rope_layer_interval"}, 0, 1 << 30);
  if (!note_listed(model)) {
    const int64_t every = interval ? interval->value : model.family->nope_interval;
    if (every > 0) {
      notes.info(
          interval ? interval->at.pointer : "",
          fmt::format("every {}. layer has no RoPE{}", every,
                      interval ? "" : fmt::format(": class default of {}", model.family->type)));
    }
  }
  if (model.family->nope_layers) {
    notes.info("", fmt::format("no RoPE in {}: so the code of {}", model.family->nope_layers,
                               model.family->type));
  }
}

}  // namespace rope_bench
