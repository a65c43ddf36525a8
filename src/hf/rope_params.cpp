// Pairing, theta, rotated dims and position axes of one parameter set.
#include <fmt/format.h>

#include <cmath>

#include "src/hf/model.h"

namespace rope_bench {
namespace {

constexpr double kUsualTheta = 10000;

// The first of the places where parameters of a set stand that has the key.
std::optional<Field<double>> number_in(RopeSet& set, const char* key) {
  if (set.own) {
    if (const auto found = set.own->number({key})) return found;
  }
  return set.shared ? set.shared->number({key}) : std::nullopt;
}

std::optional<Field<double>> theta_key(Model& model) {
  static constexpr std::initializer_list<const char*> kKeys = {
      "rope_theta", "rotary_emb_base", "global_rope_theta", "rotary_base", "rope_base"};
  const Node* theta = model.fields.find("rope_theta");
  if (theta && theta->list()) return std::nullopt;  // one per layer: taken apart already
  if (const auto found = model.fields.number(kKeys)) return found;
  if (std::optional<Fields> attention = model.fields.object("attn_config")) {
    return attention->number({"rope_theta"});
  }
  return std::nullopt;
}

Field<double> read_theta(Model& model, RopeSet& set) {
  Notes& notes = *model.context.notes;
  const std::optional<Field<double>> outer = theta_key(model);
  std::optional<Field<double>> theta = set.theta;
  if (theta) return *theta;
  theta = number_in(set, "rope_theta");
  if (!theta) theta = number_in(set, "base");
  if (theta && outer && theta->value != outer->value) {
    notes.warn(theta->at.pointer, fmt::format("theta {} disagrees with {} {}; the former is used",
                                              theta->value, outer->at.pointer, outer->value));
  }
  if (!theta) theta = outer;
  const auto ratio = model.fields.number({"rope_ratio"});
  if (ratio && model.family->has_rope_ratio) {
    Field<double> scaled{kUsualTheta * ratio->value, ratio->at, "rope_ratio"};
    notes.info(ratio->at.pointer, fmt::format("theta {} = {} x rope_ratio {}", scaled.value,
                                              kUsualTheta, ratio->value));
    return scaled;
  }
  if (theta) {
    notes.info(theta->at.pointer, fmt::format("theta {}", theta->value));
    if (theta->at.node->text()) {
      notes.warn(theta->at.pointer, "theta is a text in the file; read as the number that it is");
    }
    return *theta;
  }
  const double known = model.family->defaults.theta;
  notes.info("", known > 0 ? fmt::format("theta {}: not in the file, class default of {}", known,
                                         model.family->type)
                           : fmt::format("theta {}: not in the file; assumed, as in most families",
                                         kUsualTheta));
  return {known > 0 ? known : kUsualTheta, model.type_at, ""};
}

struct Rotated {
  std::optional<Field<double>> partial;
  std::optional<Field<int64_t>> dims;
};

Rotated read_rotated(Model& model, RopeSet& set) {
  Rotated rotated;
  rotated.partial = set.partial ? set.partial : number_in(set, "partial_rotary_factor");
  const auto outer = model.fields.number({"partial_rotary_factor", "rotary_pct", "rope_pct",
                                          "rotary_percentage", "rotary_emb_fraction"});
  if (rotated.partial && outer && outer->value != rotated.partial->value) {
    model.context.notes->warn(
        rotated.partial->at.pointer,
        fmt::format("partial_rotary_factor {} disagrees with {} {}; the former is used",
                    rotated.partial->value, outer->at.pointer, outer->value));
  }
  if (!rotated.partial) rotated.partial = outer;
  rotated.dims = model.fields.integer({"rotary_dim"}, 1, int64_t{1} << 31);
  return rotated;
}

// Says how many dims a share of the head is, and how the rest of the division is cut.
void note_share(Model& model, const std::string& at, double share, int64_t head_dim,
                const std::string& why) {
  if (head_dim == 0) return;
  const double product = share * static_cast<double>(head_dim);
  const std::string text =
      fmt::format("rotary_dim {} of head_dim {}: {} x {} = {}{}", std::trunc(product), head_dim,
                  share, head_dim, product, why);
  if (std::floor(product) == product) {
    model.context.notes->info(at, text);
  } else {
    model.context.notes->warn(at, text + ", not an integer: truncated");
  }
}

void put_rotated(Model& model, RopeSet& set, int64_t head_dim, Node* out) {
  Rotated rotated = read_rotated(model, set);
  if (is_mla(model)) return;  // head_dim is what rotates
  Notes& notes = *model.context.notes;
  NativeBuilder& native = *model.context.native;
  const Family& family = *model.family;
  if (rotated.partial && rotated.dims) {
    const double product = rotated.partial->value * static_cast<double>(head_dim);
    const bool agree = std::trunc(product) == static_cast<double>(rotated.dims->value);
    if (!agree && head_dim > 0) {
      notes.warn(
          rotated.dims->at.pointer,
          fmt::format("rotary_dim {} disagrees with {} {} of head_dim {}; the latter is used",
                      rotated.dims->value, rotated.partial->at.pointer, rotated.partial->value,
                      head_dim));
    }
    rotated.dims.reset();
  }
  if (rotated.dims) {
    native.put(out, "rope.rotary_dim", rotated.dims->value, rotated.dims->at);
    notes.info(rotated.dims->at.pointer, fmt::format("rotary_dim {}", rotated.dims->value));
  } else if (rotated.partial) {
    native.put(out, "rope.partial_rotary_factor", rotated.partial->value, rotated.partial->at);
    note_share(model, rotated.partial->at.pointer, rotated.partial->value, head_dim, "");
  } else if (family.rotary_dim > 0 && !model.fields.is_null("rotary_dim")) {
    native.put(out, "rope.rotary_dim", family.rotary_dim, model.type_at);
    notes.info("", fmt::format("rotary_dim {}: not in the file, class default of {}",
                               family.rotary_dim, family.type));
  } else if (family.partial != 1) {
    native.put(out, "rope.partial_rotary_factor", family.partial, model.type_at);
    note_share(model, "", family.partial, head_dim,
               fmt::format(" (not in the file, class default of {})", family.type));
  } else {
    notes.info("", model.known ? "all dims of a head rotate: no key says otherwise"
                               : "all dims of a head rotate: no key says otherwise, and the "
                                 "family's class default is not known; assumed");
  }
}

void put_pairing(Model& model, Node* out) {
  if (!model.known) return;  // given on the command line
  const Family& family = *model.family;
  Pairing pairing = family.pairing;
  std::string why = pairing_reason(family);
  Trace at = model.type_at;
  const auto interleave =
      model.fields.flag({"rope_interleave", "rope_interleaved", "rotary_emb_interleaved"});
  if (interleave && (interleave->value ? Pairing::kGptj : Pairing::kNeox) != pairing) {
    pairing = interleave->value ? Pairing::kGptj : Pairing::kNeox;
    why = fmt::format("{} is {}", interleave->key, interleave->value);
    at = interleave->at;
  }
  model.context.native->put(out, "rope.pairing", info(pairing).name, at);
  model.context.notes->info(
      at.pointer, fmt::format("pairing {} ({}): {}", info(pairing).name, family.type, why));
}

// mrope_section and its like: which position drives which pair.
void put_axes(Model& model, RopeSet& set, Node* out) {
  NativeBuilder& native = *model.context.native;
  if (std::string_view(model.family->axes) == "vision_2d") {
    native.put(out, "rope.axes.kind", "vision_2d", model.type_at);
    return;
  }
  if (!set.own) return;
  const char* key = set.own->find("xdrope_section") ? "xdrope_section" : "mrope_section";
  const Node* section = set.own->find(key);
  if (!section) return;
  const auto interleaved = set.own->flag({"mrope_interleaved"});
  std::string kind = std::string_view(key) == "xdrope_section" ? "xdrope" : model.family->axes;
  if (interleaved && interleaved->value) kind = "mrope_interleaved";
  const Trace at = set.own->trace(key);
  if (!section->list()) refuse_value(at, "a list of pairs per axis");
  for (const Node& item : *section->list()) {
    if (item.list() || item.object()) refuse_value(at, "a list of whole numbers");
  }
  native.put(out, "rope.axes.kind", kind, at);
  native.put(out, "rope.axes.section", *section->list(), at);
  model.context.notes->info(at.pointer,
                            fmt::format("axes {}: pairs per axis {}", kind, to_text(*section)));
}

}  // namespace

void put_rope(Model& model, RopeSet& set, int64_t head_dim, Node* out) {
  NativeBuilder& native = *model.context.native;
  put_pairing(model, out);
  const Field<double> theta = read_theta(model, set);
  native.put(out, "rope.theta", theta.value, theta.at);
  put_rotated(model, set, head_dim, out);
  put_axes(model, set, out);
  if (model.family->reversed) {
    native.put(out, "rope.direction", "reversed", model.type_at);
    model.context.notes->info(
        "",
        fmt::format("direction reversed: {} rotates by the negative angle", model.family->type));
  }
}

}  // namespace rope_bench
