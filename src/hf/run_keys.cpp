// op, norm, dtype and tokens: what to run the rotation as.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

constexpr int64_t kTokens[] = {1, 64, 1024, 4096};

// Whether op norm_split_rope does this norm.
bool is_fusable(const QkNorm& norm) {
  return norm.kind == QkNormKind::kHeadRms || norm.kind == QkNormKind::kRowRms ||
         norm.kind == QkNormKind::kHeadL2;
}

// The op that a family's attention is measured as.
const char* op_of(const QkNorm& norm) { return is_fusable(norm) ? "norm_split_rope" : "rope"; }

// The norm as the config writes it.
void put_norm(Model& model, const QkNorm& norm, Node* out) {
  NativeBuilder& native = *model.context.native;
  const auto eps = model.fields.number({"rms_norm_eps", "layernorm_epsilon", "layer_norm_epsilon",
                                        "layer_norm_eps", "norm_eps", "norm_epsilon"});
  if (norm.kind == QkNormKind::kHeadL2) {
    native.put(out, "norm.weight", false, model.type_at);
  } else {
    native.put(out, "norm.weight_offset", int64_t{norm.plus_one ? 1 : 0}, model.type_at);
  }
  native.put(out, "norm.span", norm.kind == QkNormKind::kRowRms ? "row" : "head", model.type_at);
  native.put(out, "norm.order", norm.after ? "after" : "before", model.type_at);
  if (!eps) return;
  native.put(out, "norm.eps", eps->value, eps->at);
  model.context.notes->info(eps->at.pointer, fmt::format("norm eps {}", eps->value));
}

void put_dtype(Model& model, Node* out) {
  struct Word {
    const char* written;
    const char* dtype;
  };
  static constexpr Word kWords[] = {{"bfloat16", "bf16"}, {"float16", "f16"}, {"float32", "f32"}};
  Notes& notes = *model.context.notes;
  std::optional<Field<std::string>> written;
  for (Fields* fields : {&model.fields, &model.root}) {
    if (!written) written = fields->text({"torch_dtype", "dtype"});
  }
  if (!written) {
    model.context.native->put(out, "dtype", "bf16", model.type_at);
    notes.info("", "dtype bf16: no torch_dtype in the file; assumed");
    return;
  }
  std::string word = written->value;
  if (word.starts_with("torch.")) word.erase(0, 6);
  for (const Word& known : kWords) {
    if (word != known.written) continue;
    model.context.native->put(out, "dtype", known.dtype, written->at);
    notes.info(written->at.pointer, fmt::format("dtype {}", known.dtype));
    return;
  }
  model.context.native->put(out, "dtype", "bf16", model.type_at);
  notes.warn(written->at.pointer, fmt::format("{} is no dtype of kernels here: bf16 instead",
                                              to_text(*written->at.node)));
}

bool looks_like_rope(const std::string& key) {
  static constexpr const char* kParts[] = {"rope", "rotary", "ntk", "yarn", "logn", "alibi"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](const char* part) { return key.find(part) != std::string::npos; });
}

}  // namespace

QkNorm read_norm(Model& model) {
  QkNorm norm = model.family->norm;
  if (!norm.flag) return norm;
  const auto flag = model.fields.flag({norm.flag});
  const bool on = flag ? flag->value : norm.flag_default;
  if (!on) norm.kind = QkNormKind::kNone;
  model.context.notes->info(flag ? flag->at.pointer : "",
                            fmt::format("qk-norm {}: {} is {}{}", norm_text(norm), norm.flag,
                                        on ? "true" : "false", flag ? "" : ", the class default"));
  return norm;
}

void put_run(Model& model, Node* out) {
  const ReadContext& context = model.context;
  NativeBuilder& native = *context.native;
  const QkNorm norm = read_norm(model);
  native.put(out, "op", op_of(norm), model.type_at);
  if (is_fusable(norm)) {
    model.context.notes->info(
        "", fmt::format("qk-norm {}: op norm_split_rope does it together with the rotation; "
                        "op=rope is the rotation alone",
                        norm_text(norm)));
    // Another op of the command line has no use for it.
    if (!context.has("op") || context.has("op", "norm_split_rope")) put_norm(model, norm, out);
  } else if (norm.kind != QkNormKind::kNone) {
    model.context.notes->info("", fmt::format("qk-norm {}: no op here does it, op rope is the "
                                              "rotation alone",
                                              norm_text(norm)));
  }
  put_dtype(model, out);
  Node::List tokens;
  for (const int64_t count : kTokens) tokens.push_back(native.node(count, model.type_at));
  native.put(out, "tokens", std::move(tokens), model.type_at);
}

void note_ignored(Model& model) {
  const std::string_view inert = model.family->inert;
  for (const char* known : {"attn_temperature_tuning", "original_max_position_embeddings"}) {
    model.fields.find(known);
  }
  constexpr size_t kMostNamed = 100;
  size_t unknown = 0;
  for (const std::string& key : model.fields.unread()) {
    const std::string pointer = model.fields.pointer() + pointer_token(key);
    if (inert.find(" " + key + " ") != std::string_view::npos) {
      model.context.notes->info(pointer, fmt::format("without effect in {}", model.family->type));
    } else if (looks_like_rope(key) && ++unknown <= kMostNamed) {
      model.context.notes->warn(
          pointer, fmt::format("ignored: nothing here reads {}", pointer_token(key).substr(1)));
    }
  }
  if (unknown > kMostNamed) {
    model.context.notes->warn(model.fields.pointer(),
                              fmt::format("ignored: {} more such keys", unknown - kMostNamed));
  }
}

}  // namespace rope_bench
