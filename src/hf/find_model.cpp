// Which object of the file is the model, of which family, and does it rotate at all?
#include <fmt/format.h>

#include <algorithm>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

constexpr const char* kTextParts[] = {"text_config", "llm_config", "language_config",
                                      "thinker_config", "decoder_config"};

std::vector<std::string> split(const std::string& pointer) {
  std::vector<std::string> tokens;
  for (size_t start = 0; start <= pointer.size();) {
    const size_t end = std::min(pointer.find('/', start), pointer.size());
    if (end > start) tokens.push_back(pointer.substr(start, end - start));
    start = end + 1;
  }
  return tokens;
}

Fields part_of(Fields fields, const std::string& part) {
  for (const std::string& token : split(part)) {
    const Node* node = fields.find(token);
    if (node && node->object()) {
      fields = Fields(*node, fields.pointer() + pointer_token(token));
      continue;
    }
    std::vector<std::string> known;
    for (const Member& member : *fields.node().object()) {
      if (member.value.object()) known.push_back(pointer_token(member.key));
    }
    refuse(fields.whole(),
           fmt::format("no object \"{}\" here; objects: {}", token, list_text(known)));
  }
  return fields;
}

// Models with towers keep what rotates text in an object of its own.
Fields text_part(Fields fields) {
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const char* key : kTextParts) {
      const Node* node = fields.find(key);
      if (!node || !node->object()) continue;
      fields = Fields(*node, fields.pointer() + pointer_token(key));
      deeper = true;
      break;
    }
  }
  return fields;
}

const Family kUnknown = {.why = "given on the command line"};

bool is_tower(const std::string& part) {
  const std::vector<std::string> tokens = split(part);
  return !tokens.empty() && (tokens.back().find("vision") != std::string::npos ||
                             tokens.back().find("visual") != std::string::npos);
}

[[noreturn]] void refuse_unknown(const Model& model) {
  const std::string near = nearest_family(model.type);
  const char* how =
      "say how it pairs dims: --set rope.pairing=neox (halves) or --set rope.pairing=gptj "
      "(adjacent dims)";
  if (model.type.empty()) {
    refuse({&model.fields.node(), model.fields.pointer() + "/model_type"},
           fmt::format("missing, so the pairing is not known; {}", how));
  }
  refuse(model.type_at,
         fmt::format("{} is no family that is known here{}; {}; `rope-bench list families` lists "
                     "the known ones",
                     to_text(*model.type_at.node),
                     near.empty() ? "" : fmt::format("; nearest: \"{}\"", near), how));
}

void find_family_of(Model& model, const std::string& part) {
  std::optional<Field<std::string>> type = model.fields.text({"model_type"});
  if (!type) type = model.root.text({"model_type"});
  if (type) {
    model.type = type->value;
    model.type_at = type->at;
  }
  const Family* row = find_family(model.type);
  const bool own_row = row && (row->no_rope || row->refusal || model.type.ends_with("_vision"));
  if (is_tower(part) && !own_row) row = find_family(model.type + "_vision");
  model.known = row != nullptr;
  model.family = row ? row : &kUnknown;
}

[[noreturn]] void no_rope(const Trace& at, const std::string& instead) {
  refuse(at, "this model has no RoPE: " + instead);
}

bool names_rope(const std::string& word) {
  return word.find("rope") != std::string::npos || word.find("rotary") != std::string::npos;
}

// Flags that say so in the file itself.
bool says_rope(Model& model) {
  Fields& fields = model.fields;
  if (const auto alibi = fields.flag({"alibi", "use_alibi"}); alibi && alibi->value) {
    no_rope(alibi->at, "ALiBi biases of the attention scores");
  }
  if (const auto flat = fields.flag({"position_encoding_2d"}); flat && flat->value) {
    refuse(flat->at,
           "each half of a head rotates by a position of its own, which no rope.axes.kind "
           "expresses");
  }
  for (const char* key : {"rope", "rotary", "use_rope", "use_rotary", "use_rotary_embeddings"}) {
    const Node* node = fields.find(key);
    const bool* on = node ? std::get_if<bool>(&node->value) : nullptr;
    if (on && !*on) no_rope(fields.trace(key), fmt::format("{} is false", key));
  }
  if (std::optional<Fields> attention = fields.object("attn_config")) {
    if (const auto rope = attention->flag({"rope"}); rope && rope->value) return true;
    if (const auto alibi = attention->flag({"alibi"}); alibi && alibi->value) {
      no_rope(alibi->at, "ALiBi biases of the attention scores");
    }
  }
  const auto kind = fields.text({"position_embedding_type"});
  if (!kind) return false;
  if (!names_rope(kind->value)) {
    no_rope(kind->at, fmt::format("position_embedding_type is {}", to_text(*kind->at.node)));
  }
  return true;
}

void require_rope(Model& model) {
  const Family& family = *model.family;
  const bool said = says_rope(model);
  if (family.no_rope && !said) {
    no_rope(model.type_at, fmt::format("{} has {}", family.type, family.no_rope));
  }
  if (family.refusal) refuse(model.type_at, fmt::format("{}: {}", family.type, family.refusal));
  if (family.position_type_needed && !said) {
    no_rope(model.type_at, fmt::format("{} rotates only with position_embedding_type rope or "
                                       "rotary, which is not in the file",
                                       family.type));
  }
  if (family.alibi_unless_hidden_size == 0) return;
  const auto size = model.fields.integer({"hidden_size"}, 1, int64_t{1} << 31);
  if (size && size->value != family.alibi_unless_hidden_size) {
    no_rope(size->at, fmt::format("{} of hidden_size {} has ALiBi; that of {} has RoPE",
                                  family.type, size->value, family.alibi_unless_hidden_size));
  }
}

void require_hugging_face(const Fields& root) {
  for (const Member& member : *root.node().object()) {
    if (member.key == "model_type" || member.key == "architectures") return;
  }
  for (const Member& member : *root.node().object()) {
    if (member.key == "model" && member.value.object()) {
      refuse(root.whole(), "this is a config of rope-bench, not of a model: read it with --config");
    }
  }
}

}  // namespace

Model find_model(const Node& root, const std::string& part, const ReadContext& context) {
  if (!root.object()) refuse({&root, ""}, "not a model's config.json: allowed: a JSON object");
  const Fields whole(root, "");
  require_hugging_face(whole);
  Model model{context, whole, part.empty() ? text_part(whole) : part_of(whole, part), "", {},
              nullptr, false};
  model.type_at = model.fields.whole();
  find_family_of(model, part);
  require_rope(model);
  if (!model.known && !context.has("rope.pairing")) refuse_unknown(model);
  if (!model.fields.pointer().empty()) {
    context.notes->info(model.fields.pointer(), "the model is read from here");
  }
  return model;
}

}  // namespace rope_bench
