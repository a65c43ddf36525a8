// Parameters of a scaling as transformers reads them: which count, which are inert, and what stands
// in for those that are missing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/case/resolve.h"
#include "src/hf/scaling_type.h"

namespace rope_bench {
namespace {

constexpr const char* kOriginal = "original_max_position_embeddings";
constexpr const char* kOriginalPath = "rope.scaling.original_max_position_embeddings";

const Node* member_of(const Node& object, std::string_view key) {
  for (const Member& member : *object.object()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

// 4096 rather than 4096.0.
std::string value_text(const Node& node) {
  const double* number = std::get_if<double>(&node.value);
  return number ? fmt::format("{}", *number) : to_text(node);
}

class ScalingReader {
 public:
  ScalingReader(Model& model, RopeSet& set, Node* out)
      : model_(model),
        set_(set),
        out_(out),
        notes_(*model.context.notes),
        native_(*model.context.native),
        most_(read_max_position(model)) {}

  void run() {
    type_ = read_scaling_type(model_, set_);
    if (type_.written.empty()) return;
    native_.put(out_, "rope.scaling.type", type_.method, type_.at);
    const ScalingMethodSpec* method = find_method(model_.context.scalings, type_.method);
    for (const ScalingParamSpec& param : method->params) read(param);
    if (type_.method == "yarn") yarn();
    if (type_.method == "longrope") longrope();
    if (type_.method == "yarn" || type_.method == "longrope") check_lengths();
    note_scaling(*method);
  }

 private:
  // Where a parameter stands: in the set, or beside the sets.
  std::optional<Trace> place(const char* key) {
    for (std::optional<Fields>* fields : {&set_.own, &set_.shared}) {
      if (*fields && (*fields)->find(key)) return (*fields)->trace(key);
    }
    return std::nullopt;
  }
  bool is_null(const char* key) const { return set_.own && set_.own->is_null(key); }

  std::optional<double> number(const char* key) {
    const std::optional<Trace> at = place(key);
    return at ? number_or_text(*at->node) : std::nullopt;
  }

  bool is_inert(const ScalingParamSpec& param, const Trace& at) {
    const auto inert = [&](const char* why) {
      notes_.warn(at.pointer, fmt::format("{} is inert: {}", param.name, why));
      return true;
    };
    if (type_.method == "dynamic_ntk" && param.name == kOriginal) {
      return inert("transformers' dynamic counts from max_position_embeddings");
    }
    const bool of_lists = param.name == "short_mscale" || param.name == "long_mscale";
    if (of_lists && !model_.family->list_mscale) {
      return inert("transformers does not read it for this family");
    }
    if (param.name == "attn_factor" || param.name == "extrapolation_factor" ||
        param.name == "length_rule" || param.name == "list_rule") {
      return inert("transformers does not read it");
    }
    if (type_.method == "ntk" && param.name == "factor") return true;  // alpha counts
    return false;
  }

  void read(const ScalingParamSpec& param) {
    if (param.name == kOriginal && type_.method != "dynamic_ntk") return original();
    const std::optional<Trace> at = place(param.name.c_str());
    if (!at || is_inert(param, *at)) return;
    native_.put(out_, "rope.scaling." + param.name, value_of(param, *at), *at);
  }

  // As the parameter's kind: a list elsewhere would be taken for alternatives.
  static NativeBuilder::Value value_of(const ScalingParamSpec& param, const Trace& at) {
    if (param.kind == ParamKind::kFlag) {
      const bool* flag = std::get_if<bool>(&at.node->value);
      if (!flag) refuse_value(at, "true, false");
      return *flag;
    }
    if (param.kind == ParamKind::kList) {
      const Node::List* list = at.node->list();
      const bool numbers = list && std::all_of(list->begin(), list->end(), [](const Node& item) {
                             return number_or_text(item) && !item.text();
                           });
      if (!numbers) refuse_value(at, "a list of numbers");
      return *list;
    }
    const std::optional<double> number = number_or_text(*at.node);
    if (!number) refuse_value(at, "a finite number");
    return *number;
  }

  // The key at the top of the model wins over the one in the object.
  void original() {
    const std::optional<Trace> inner = place(kOriginal);
    const Node* outer = model_.fields.find(kOriginal);
    if (!inner && !outer) return;
    const Trace at = outer ? model_.fields.trace(kOriginal) : *inner;
    const std::optional<double> value = number_or_text(*at.node);
    if (!value) refuse_value(at, "a finite number");
    if (outer && inner && number_or_text(*inner->node) != value) {
      notes_.warn(inner->pointer, fmt::format("{} disagrees with {} {}; the latter wins",
                                              to_text(*inner->node), at.pointer, *value));
    }
    original_ = *value;
    native_.put(out_, kOriginalPath, *value, at);
  }

  void yarn() {
    if (is_null("factor") && original_ && most_) {
      const double factor = static_cast<double>(most_->value) / *original_;
      native_.put(out_, "rope.scaling.factor", factor, set_.own->trace("factor"));
      notes_.info(set_.own->trace("factor").pointer,
                  fmt::format("factor is null: {} = {} {} / {} {}", factor, most_->key,
                              most_->value, kOriginal, *original_));
    }
    if (!original_ && most_) {
      notes_.info("", fmt::format("{} is not in the file: {} {}, as transformers assumes",
                                  kOriginal, most_->key, most_->value));
    }
    if (!place("attention_factor")) attention_factor();
  }

  void attention_factor() {
    const double one = number("mscale").value_or(0), all = number("mscale_all_dim").value_or(0);
    const std::optional<double> factor = number("factor");
    if (one != 0 && all != 0) {
      const std::string rule = fmt::format(
          "attention factor from the ratio of mscale {} and mscale_all_dim {}", one, all);
      if (one != all || is_mla(model_)) {
        notes_.info(place("mscale")->pointer, rule);
      } else {
        notes_.warn(place("mscale")->pointer,
                    rule +
                        ", which is 1: the pair is inert but for that; a loader that does not "
                        "read it has 0.1 ln(factor) + 1");
      }
    } else if (one != 0 || all != 0) {
      notes_.warn(place(one != 0 ? "mscale" : "mscale_all_dim")->pointer,
                  "inert: transformers reads mscale and mscale_all_dim only together");
    } else if (model_.family->yarn_slope != 0.1 && factor && *factor > 1) {
      const double value = model_.family->yarn_slope * std::log(*factor) + 1;
      native_.put(out_, "rope.scaling.attention_factor", value, model_.type_at);
      notes_.info("", fmt::format("attention factor {} = {} ln(factor) + 1: so the code of {}",
                                  value, model_.family->yarn_slope, model_.family->type));
    }
  }

  void longrope() {
    if (!original_ && most_) {
      notes_.info("",
                  fmt::format("{} is not in the file: {} {}", kOriginal, most_->key, most_->value));
    }
    notes_.info(set_.own->pointer(),
                "the long list counts from positions beyond the original length on: as long as "
                "--seq-len, or the largest position + 1");
  }

  // A factor that does not lead from the original length to the declared one.
  void check_lengths() {
    const std::optional<double> factor = number("factor");
    if (!factor || !original_ || !most_) return;
    const double reached = *factor * *original_;
    const double most = static_cast<double>(most_->value);
    if (std::abs(reached - most) <= 1e-6 * most) return;
    notes_.warn(place("factor")->pointer,
                fmt::format("factor {} x original length {} = {} contradicts {} {}; the factor is "
                            "used",
                            *factor, *original_, reached, most_->key, most_->value));
  }

  // "linear: factor 8"; lists by their lengths.
  std::string given_text(const ScalingMethodSpec& method) {
    std::string text;
    const Node* rope = member_of(*out_, "rope");
    for (const Member& part : *member_of(*rope, "scaling")->object()) {
      if (part.key == "type") continue;
      const Node::List* list = part.value.list();
      text +=
          fmt::format("{}{} {}", text.empty() ? ": " : ", ", part.key,
                      list ? fmt::format("[{} numbers]", list->size()) : value_text(part.value));
    }
    return method.name + text;
  }

  void note_scaling(const ScalingMethodSpec& method) {
    std::string assumed;
    for (const ScalingParamSpec& param : method.params) {
      const bool there =
          param.name == kOriginal ? original_.has_value() : place(param.name.c_str()).has_value();
      if (there || !param.default_value || param.name == "attn_factor" ||
          param.name == "extrapolation_factor") {
        continue;
      }
      assumed += fmt::format("{}{} {}", assumed.empty() ? "" : ", ", param.name,
                             param.kind == ParamKind::kFlag
                                 ? std::string(*param.default_value != 0 ? "true" : "false")
                                 : fmt::format("{}", *param.default_value));
    }
    notes_.info(set_.own->pointer(), "scaling " + given_text(method));
    if (!assumed.empty()) notes_.info("", "not in the file, the method's defaults: " + assumed);
  }

  Model& model_;
  RopeSet& set_;
  Node* out_;
  Notes& notes_;
  NativeBuilder& native_;
  std::optional<Field<int64_t>> most_;
  ScalingType type_;
  std::optional<double> original_;
};

// A factor without an object around it.
void put_flat_factor(Model& model, Node* out) {
  const auto factor = model.fields.number({"rope_scaling_factor", "rotary_scaling_factor"});
  if (!factor || factor->value == 1) return;
  model.context.native->put(out, "rope.scaling.type", "linear", factor->at);
  model.context.native->put(out, "rope.scaling.factor", factor->value, factor->at);
  model.context.notes->warn(
      factor->at.pointer,
      fmt::format("factor {} without a method: linear is assumed", factor->value));
}

// Queries that grow with the position, after the rotation.
void put_query_scale(Model& model, RopeSet& set, Node* out) {
  if (!set.own) return;
  const auto beta = set.own->number({"llama_4_scaling_beta"});
  if (!beta || beta->value == 0) return;
  const auto original = set.own->integer({kOriginal}, 1, int64_t{1} << 62);
  if (!original) {
    refuse(beta->at, fmt::format("needs {}, which is not there", kOriginal));
  }
  model.context.native->put(out, "rope.query_scale.beta", beta->value, beta->at);
  model.context.native->put(out, std::string("rope.query_scale.") + kOriginal, original->value,
                            original->at);
  model.context.notes->info(beta->at.pointer,
                            fmt::format("queries times 1 + {} ln(1 + floor(position / {})) after "
                                        "the rotation",
                                        beta->value, original->value));
}

// What the object still holds, all in one line.
void note_unread(Model& model, RopeSet& set, const std::string& scaling) {
  for (const char* harmless : {"finetuned", "mrope_interleaved", "freq_allocation"}) {
    set.own->find(harmless);
  }
  std::vector<std::string> keys = set.own->unread();
  if (keys.empty()) return;
  for (std::string& key : keys) key = pointer_token(key).substr(1);
  model.context.notes->warn(set.own->pointer(), fmt::format("ignored: {}; {} does not read them",
                                                            list_text(keys), scaling));
}

}  // namespace

void put_scaling(Model& model, RopeSet& set, Node* out) {
  if (set.unscaled) return;
  if (!set.own) return put_flat_factor(model, out);
  const std::string written = read_scaling_type(model, set).written;
  ScalingReader(model, set, out).run();
  put_query_scale(model, set, out);
  note_unread(model, set, written.empty() ? "a plain RoPE" : "scaling " + written);
}

}  // namespace rope_bench
