// From config.json to cases, as a table of contents.
#include "src/hf/hf.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "src/case/errors.h"
#include "src/case/flags.h"
#include "src/hf/model.h"
#include "src/hf/non_finite.h"

namespace rope_bench {
namespace {

// What one model adds to the native config.
struct ModelConfig {
  std::string name;
  Node base;                       // op, dtype, tokens
  std::vector<Node> entries;       // model and rope of each parameter set
  std::vector<std::string> names;  // of the entries; empty: the only one
  std::vector<ConfigNote> notes;
  std::string model_type, qk_norm;
};

ModelConfig read_model(const Node& root, const HfText& text, const ReadContext& context) {
  Model model = find_model(root, text.part, context);
  ModelConfig config;
  config.model_type = model.type.empty() ? "-" : model.type;
  std::vector<RopeSet> sets = find_rope_sets(model);
  note_layers(model, sets);
  for (RopeSet& set : sets) {
    Node entry = context.native->node(Node::Object{}, model.type_at);
    const int64_t head_dim = put_shape(model, set, &entry);
    put_rope(model, set, head_dim, &entry);
    put_scaling(model, set, &entry);
    config.entries.push_back(std::move(entry));
    config.names.push_back(set.name);
  }
  config.base = context.native->node(Node::Object{}, model.type_at);
  put_run(model, &config.base);
  config.qk_norm = norm_text(read_norm(model));
  note_ignored(model);
  return config;
}

// Names are parts of case names: no blanks, slashes and control characters, whatever a file calls
// its layers; ASCII alone, since a path may be in any encoding.
std::string printable(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '/' ||
        static_cast<unsigned char>(c) >= 0x7f) {
      c = '_';
    }
  }
  return name.empty() ? "unnamed" : name;
}

void append(const Node& from, Node* into) {
  Node::Object& members = std::get<Node::Object>(into->value);
  members.insert(members.end(), from.object()->begin(), from.object()->end());
}

// One set of one model: a plain config. Else an entry of `cases` for each set.
Node assemble(const std::vector<ModelConfig>& models, NativeBuilder& native,
              std::vector<ModelFacts>* facts) {
  const bool alone = models.size() == 1;
  const Trace at{&models[0].base, "/"};
  Node root = native.node(Node::Object{}, at);
  const std::string name = alone ? models[0].name : "models";
  native.put(&root, "name", name, at);
  if (alone) append(models[0].base, &root);
  if (alone && models[0].entries.size() == 1) {
    append(models[0].entries[0], &root);
    facts->push_back({name, models[0].model_type, models[0].qk_norm});
    return root;
  }
  Node::List entries;
  for (const ModelConfig& model : models) {
    for (size_t i = 0; i < model.entries.size(); ++i) {
      Node entry = native.node(Node::Object{}, at);
      std::string entry_name = alone ? "" : model.name;
      if (model.entries.size() > 1) {
        entry_name += (alone ? "" : ":") + printable(model.names[i]);
      }
      native.put(&entry, "name", entry_name, at);
      if (!alone) append(model.base, &entry);
      append(model.entries[i], &entry);
      entries.push_back(std::move(entry));
      facts->push_back({name + "/" + entry_name, model.model_type, model.qk_norm});
    }
  }
  native.put(&root, "cases", std::move(entries), at);
  return root;
}

Overridden overridden_paths(const Settings& flags) {
  Overridden paths;
  for (const Setting& flag : flags) {
    if (!flag.cleared) paths[flag.path] = to_text(*flag.node, 1000);
  }
  return paths;
}

}  // namespace

LoadedConfig parse_hf(const std::vector<HfText>& texts, ScalingCatalog scalings,
                      const Overrides& overrides, const CaseCheck& check) {
  Arena arena;
  const KeyTable table(scalings);
  const Overridden overridden = overridden_paths(flag_settings(table, overrides, &arena));
  NativeBuilder native;
  std::deque<Source> sources;
  std::deque<Node> roots;
  std::vector<ModelConfig> models;
  for (const HfText& text : texts) {
    const Source& source =
        sources.emplace_back(Source{text.path, quote_non_finite(text.text), false});
    const Node& root = roots.emplace_back(parse_json(source));
    Notes notes(text.path);
    models.push_back(read_model(root, text, {scalings, &overridden, &native, &notes}));
    models.back().notes = notes.take();
    models.back().name = printable(text.name);
  }
  std::vector<ModelFacts> facts;
  const Node root = assemble(models, native, &facts);
  LoadedConfig config = read_config(root, texts[0].path, table, overrides, check);
  for (ModelConfig& model : models) {
    std::move(model.notes.begin(), model.notes.end(), std::back_inserter(config.notes));
  }
  config.models = std::move(facts);
  return config;
}

}  // namespace rope_bench
