// The parameter sets of a file: one for all layers, one per layer type, or lists with an entry per
// layer.
#include <fmt/format.h>

#include <algorithm>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

constexpr size_t kMaxSets = 64;

// rope_parameters is the newer name; the other one beside it is not read.
std::optional<Fields> rope_object(Model& model) {
  std::optional<Fields> newer = model.fields.object("rope_parameters");
  std::optional<Fields> older = model.fields.object("rope_scaling");
  if (newer && older) {
    model.context.notes->warn(older->pointer(), "not read: rope_parameters is there too and wins");
  }
  if (newer) return newer;
  if (older) return older;
  const Node* rotary = model.fields.find("rotary");  // InternLM's
  return rotary && rotary->object() ? model.fields.object("rotary") : std::nullopt;
}

bool is_nested(const Fields& rope) {
  const Node::Object& members = *rope.node().object();
  return std::any_of(members.begin(), members.end(),
                     [](const Member& member) { return member.value.object() != nullptr; });
}

std::vector<RopeSet> nested_sets(Model& model, Fields& rope) {
  std::vector<RopeSet> sets;
  for (const Member& member : *rope.node().object()) {
    if (!member.value.object()) continue;
    rope.find(member.key);
    RopeSet set;
    set.name = member.key;
    set.own = Fields(member.value, rope.pointer() + pointer_token(member.key));
    set.shared = rope;
    sets.push_back(std::move(set));
    if (sets.size() > kMaxSets) {
      refuse(rope.whole(), fmt::format("more than {} parameter sets", kMaxSets));
    }
  }
  for (const Member& member : *rope.node().object()) {
    if (member.value.object() || member.value.is_null()) continue;
    model.context.notes->info(rope.pointer() + pointer_token(member.key),
                              fmt::format("{} {} stands beside the parameter sets: a default for "
                                          "all of them",
                                          member.key, to_text(member.value)));
  }
  return sets;
}

std::vector<RopeSet> full_and_sliding(const std::optional<Fields>& rope) {
  std::vector<RopeSet> sets(2);
  sets[0].name = "full_attention";
  sets[0].own = rope;
  sets[1].name = "sliding_attention";
  sets[1].own = rope;
  sets[1].unscaled = true;
  return sets;
}

// Gemma-3 and its like: sliding layers have a theta of their own.
std::vector<RopeSet> local_sets(Model& model, const std::optional<Fields>& rope) {
  const LocalTheta& local = model.family->local;
  std::optional<Field<double>> theta = model.fields.number({local.key});
  if (!theta && (local.class_default == 0 || model.fields.is_null(local.key))) {
    RopeSet only;
    only.own = rope;
    return {only};
  }
  std::vector<RopeSet> sets = full_and_sliding(rope);
  if (theta) {
    model.context.notes->info(theta->at.pointer,
                              fmt::format("theta {} of the sliding-window layers, which are not "
                                          "scaled",
                                          theta->value));
  } else {
    model.context.notes->info(
        "", fmt::format("theta {} of the sliding-window layers, which are not scaled: {} is not in "
                        "the file, class default of {}",
                        local.class_default, local.key, model.family->type));
    theta = Field<double>{local.class_default, model.type_at, ""};
  }
  sets[1].theta = theta;
  return sets;
}

std::string layer_type(Model& model, size_t layer) {
  const Node* types = model.fields.find("layer_types");
  const Node::List* list = types ? types->list() : nullptr;
  return list && layer < list->size() && (*list)[layer].text() ? *(*list)[layer].text() : "layers";
}

// One value per layer in a list; a plain number is for all of them.
std::optional<Field<double>> of_layer(Model& model, const char* key, size_t layer) {
  const Node* node = model.fields.find(key);
  if (!node) return std::nullopt;
  const Trace whole = model.fields.trace(key);
  if (!node->list()) return model.fields.number({key});
  if (layer >= node->list()->size()) return std::nullopt;
  const Node& item = (*node->list())[layer];
  const Trace at{&item, fmt::format("{}/{}", whole.pointer, layer)};
  const std::optional<double> value = number_or_text(item);
  if (!value) refuse_value(at, "a finite number");
  return Field<double>{*value, at, key};
}

bool is_listed(Model& model, const std::string& word, const char* key) {
  const Node* node = model.fields.find(key);
  if (!node || !node->list()) return true;
  return std::any_of(node->list()->begin(), node->list()->end(),
                     [&](const Node& item) { return item.text() && *item.text() == word; });
}

// Step-3.5: theta and the rotated share of every layer; equal ones are one set.
std::vector<RopeSet> listed_sets(Model& model, const std::optional<Fields>& rope) {
  const Node::List& thetas = *model.fields.find("rope_theta")->list();
  if (thetas.empty()) refuse_value(model.fields.trace("rope_theta"), "a number, or one per layer");
  std::vector<RopeSet> sets;
  for (size_t layer = 0; layer < thetas.size(); ++layer) {
    RopeSet set;
    set.name = layer_type(model, layer);
    set.theta = of_layer(model, "rope_theta", layer);
    set.partial = of_layer(model, "partial_rotary_factors", layer);
    set.own = rope;
    set.unscaled = !is_listed(model, set.name, "yarn_only_types");
    const auto same = [&](const RopeSet& other) {
      const bool partial = other.partial.has_value() == set.partial.has_value() &&
                           (!set.partial || other.partial->value == set.partial->value);
      return other.name == set.name && other.theta->value == set.theta->value && partial;
    };
    if (std::any_of(sets.begin(), sets.end(), same)) continue;
    sets.push_back(std::move(set));
    if (sets.size() > kMaxSets) {
      refuse(model.fields.trace("rope_theta"),
             fmt::format("more than {} parameter sets", kMaxSets));
    }
  }
  return sets;
}

}  // namespace

std::vector<RopeSet> find_rope_sets(Model& model) {
  std::optional<Fields> rope = rope_object(model);
  if (rope && is_nested(*rope)) return nested_sets(model, *rope);
  const Node* theta = model.fields.find("rope_theta");
  if (theta && theta->list()) return listed_sets(model, rope);
  if (model.family->local.key) return local_sets(model, rope);
  const bool scaled = rope && (rope->find("type") || rope->find("rope_type"));
  if (model.family->sliding_unscaled && scaled) {
    model.context.notes->info("", "sliding-window layers are not scaled: so the family's code");
    return full_and_sliding(rope);
  }
  RopeSet only;
  only.own = rope;
  return {only};
}

}  // namespace rope_bench
