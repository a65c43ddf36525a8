// Heads, their size and the declared maximum.
#include <fmt/format.h>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

constexpr int64_t kMaxCount = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxHeadDim = 65536;  // far above any model; what a table of one costs is bounded
constexpr int64_t kMaxPosition = int64_t{1} << 62;

void note_read(Model& model, const char* what, const Field<int64_t>& field) {
  model.context.notes->info(field.at.pointer, fmt::format("{} {}", what, field.value));
}

Field<int64_t> class_default(Model& model, const char* what, int64_t value) {
  model.context.notes->info("", fmt::format("{} {}: not in the file, class default of {}", what,
                                            value, model.family->type));
  return {value, model.type_at, ""};
}

std::optional<Field<int64_t>> read_heads(Model& model, const std::string& layer) {
  const int64_t known = model.family->defaults.num_heads;
  std::optional<Field<int64_t>> heads;
  if (layer == "sliding_attention") {
    heads = model.fields.integer({"swa_num_attention_heads"}, 1, kMaxCount);
  }
  if (!heads) {
    heads = model.fields.integer({"num_attention_heads", "n_head", "num_heads", "n_heads"}, 1,
                                 kMaxCount);
  }
  if (heads) {
    note_read(model, "num_heads", *heads);
  } else if (known > 0) {
    heads = class_default(model, "num_heads", known);
  } else if (!model.context.has("model.num_heads")) {
    refuse({&model.fields.node(), model.fields.pointer() + "/num_attention_heads"},
           "missing (n_head, num_heads and n_heads too); give --set model.num_heads=N");
  }
  return heads;
}

bool is_falcon(const Model& model) {
  const std::string_view type = model.family->type;
  return type == "falcon" || type.starts_with("RefinedWeb");
}

// One key head for all queries, under the names that say so with a flag.
std::optional<Field<int64_t>> read_multi_query(Model& model) {
  const auto new_decoder = model.fields.flag({"new_decoder_architecture"});
  const auto multi_query = model.fields.flag({"multi_query"});
  if (new_decoder && new_decoder->value) return std::nullopt;
  if (multi_query && multi_query->value) {
    model.context.notes->info(multi_query->at.pointer, "num_kv_heads 1: multi-query attention");
    return Field<int64_t>{1, multi_query->at, "multi_query"};
  }
  const bool by_class = std::string_view(model.family->type) == "falcon" && !multi_query;
  return by_class ? std::optional(class_default(model, "num_kv_heads", 1)) : std::nullopt;
}

std::optional<Field<int64_t>> read_kv_key(Model& model, const std::string& layer) {
  Fields& fields = model.fields;
  const auto read = [&](std::initializer_list<const char*> keys) {
    return fields.integer(keys, 1, kMaxCount);
  };
  if (layer == "sliding_attention") {
    if (const auto kv = read({"swa_num_key_value_heads"})) return kv;
  }
  if (layer == "full_attention") {
    if (const auto kv = read({"num_global_key_value_heads"})) return kv;
  }
  const auto grouped = fields.flag({"multi_query_attention"});
  const auto groups = read({"multi_query_group_num"});
  if (groups && (!grouped || grouped->value)) return groups;
  if (std::optional<Fields> attention = fields.object("attn_config")) {
    if (const auto kv = attention->integer({"kv_n_heads"}, 1, kMaxCount)) return kv;
  }
  return read(
      {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "num_attention_groups"});
}

void put_kv_heads(Model& model, const std::string& layer,
                  const std::optional<Field<int64_t>>& heads, Node* out) {
  const int64_t known = model.family->defaults.num_kv_heads;
  std::optional<Field<int64_t>> kv = is_falcon(model) ? read_multi_query(model) : std::nullopt;
  if (kv) model.fields.find("num_kv_heads");  // written there too, and not what the code uses
  if (!kv && (kv = read_kv_key(model, layer))) note_read(model, "num_kv_heads", *kv);
  if (!kv && !is_falcon(model)) kv = read_multi_query(model);
  if (!kv && known > 0 && !model.fields.is_null("num_key_value_heads")) {
    if (!heads || heads->value % known == 0) {
      kv = class_default(model, "num_kv_heads", known);
    } else {
      model.context.notes->warn(
          "",
          fmt::format("num_kv_heads is not in the file, and the class default {} of {} does not "
                      "divide {} heads",
                      known, model.family->type, heads->value));
    }
  }
  if (!kv && heads) {
    model.context.notes->info(
        "", fmt::format("num_kv_heads {}: null or not in the file, as many as query heads",
                        heads->value));
    kv = heads;
  }
  if (kv) model.context.native->put(out, "model.num_kv_heads", kv->value, kv->at);
}

// hidden_size / heads: what loaders fall back to.
std::optional<Field<int64_t>> quotient(Model& model, const std::optional<Field<int64_t>>& heads) {
  std::optional<Field<int64_t>> size =
      model.fields.integer({"embed_dim", "hidden_size", "n_embd", "d_model"}, 1, kMaxCount);
  if (!size && model.family->defaults.hidden_size > 0) {
    size = class_default(model, "hidden_size", model.family->defaults.hidden_size);
  }
  if (!size || !heads) {
    refuse({&model.fields.node(), model.fields.pointer() + "/head_dim"},
           "missing, and no hidden_size to divide by num_attention_heads; give --set "
           "model.head_dim=N");
  }
  const std::string key = size->key.empty() ? "hidden_size" : size->key;
  if (size->value % heads->value != 0) {
    refuse(size->at, fmt::format("{} {} is no multiple of the {} heads, and head_dim is not given",
                                 key, size->value, heads->value));
  }
  const int64_t dim = size->value / heads->value;
  if (dim % 2 != 0 || dim > kMaxHeadDim) {
    refuse(size->at,
           fmt::format("{} {} / {} heads is head_dim {}; allowed: an even number up to {}", key,
                       size->value, heads->value, dim, kMaxHeadDim));
  }
  model.context.notes->info(size->at.pointer, fmt::format("head_dim {} = {} {} / {} heads", dim,
                                                          key, size->value, heads->value));
  return Field<int64_t>{dim, size->at, ""};
}

Field<int64_t> read_head_dim(Model& model, const std::string& layer,
                             const std::optional<Field<int64_t>>& heads) {
  std::optional<Field<int64_t>> dim;
  if (layer == "sliding_attention") dim = model.fields.integer({"swa_head_dim"}, 2, kMaxHeadDim);
  if (layer == "full_attention") dim = model.fields.integer({"global_head_dim"}, 2, kMaxHeadDim);
  if (!dim) dim = model.fields.integer({"head_dim", "kv_channels"}, 2, kMaxHeadDim);
  if (dim) {
    note_read(model, "head_dim", *dim);
    return *dim;
  }
  const int64_t known = model.family->defaults.head_dim;
  if (known > 0 && !model.fields.is_null("head_dim"))
    return class_default(model, "head_dim", known);
  return *quotient(model, heads);
}

// Only some dims of a query head rotate, and one key part serves all heads: design of the config.
int64_t put_latent(Model& model, Node* out) {
  const int64_t known = model.family->mla_nope > 0 ? model.family->mla_nope : 128;
  auto rope = model.fields.integer({"qk_rope_head_dim"}, 2, kMaxHeadDim);
  auto nope = model.fields.integer({"qk_nope_head_dim"}, 0, kMaxHeadDim);
  if (!rope) rope = class_default(model, "qk_rope_head_dim", 64);
  if (!nope) nope = class_default(model, "qk_nope_head_dim", known);
  for (const char* inert : {"num_key_value_heads", "head_dim", "v_head_dim"}) {
    model.fields.find(inert);
  }
  NativeBuilder& native = *model.context.native;
  native.put(out, "model.num_kv_heads", int64_t{1}, rope->at);
  native.put(out, "model.head_dim", rope->value, rope->at);
  native.put(out, "layout.q.head_stride", nope->value + rope->value, nope->at);
  native.put(out, "layout.q.rotary_offset", nope->value, nope->at);
  model.context.notes->info(
      rope->at.pointer,
      fmt::format(
          "multi-head latent attention: the last {} of the {} dims of a query head rotate "
          "(head_dim here is {}, rotary_offset {}), and one key part of {} is shared by all "
          "heads (num_kv_heads 1)",
          rope->value, nope->value + rope->value, rope->value, nope->value, rope->value));
  return rope->value;
}

}  // namespace

bool is_mla(Model& model) {
  return model.family->mla_nope > 0 || model.fields.find("qk_rope_head_dim") != nullptr;
}

std::optional<Field<int64_t>> read_max_position(Model& model) {
  static constexpr const char* kKeys[] = {
      "max_position_embeddings", "n_positions", "max_sequence_length", "seq_length",
      "model_max_length",        "max_seq_len", "max_seq_length",      "n_ctx"};
  std::optional<Field<int64_t>> first;
  for (const char* key : kKeys) {
    if (!first) {
      first = model.fields.integer({key}, 1, kMaxPosition);
      continue;
    }
    const Node* other = model.fields.find(key);
    const std::optional<double> value = other ? number_or_text(*other) : std::nullopt;
    if (!value || *value == static_cast<double>(first->value)) continue;
    model.context.notes->warn(model.fields.trace(key).pointer,
                              fmt::format("{} {} disagrees with {} {}; the latter is used", key,
                                          to_text(*other), first->key, first->value));
  }
  return first;
}

int64_t put_shape(Model& model, const RopeSet& set, Node* out) {
  NativeBuilder& native = *model.context.native;
  const std::optional<Field<int64_t>> heads = read_heads(model, set.name);
  if (heads) native.put(out, "model.num_heads", heads->value, heads->at);
  int64_t head_dim = 0;
  if (is_mla(model)) {
    head_dim = put_latent(model, out);
  } else {
    put_kv_heads(model, set.name, heads, out);
    if (!model.context.has("model.head_dim")) {
      const Field<int64_t> dim = read_head_dim(model, set.name, heads);
      native.put(out, "model.head_dim", dim.value, dim.at);
      head_dim = dim.value;
    }
  }
  std::optional<Field<int64_t>> most = read_max_position(model);
  if (most) {
    note_read(model, "max_position", *most);
  } else if (model.family->defaults.max_position > 0) {
    most = class_default(model, "max_position", model.family->defaults.max_position);
  }
  if (most) native.put(out, "model.max_position", most->value, most->at);
  return head_dim;
}

}  // namespace rope_bench
