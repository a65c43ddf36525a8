#include "src/hf/scaling_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/case/config.h"

namespace rope_bench {
namespace {

struct Word {
  const char* written;
  const char* method;
};
// What checkpoints write, and what it is called here. mrope and xdrope say which position drives
// which pair and leave frequencies alone; `ntk` is vLLM's.
constexpr Word kWords[] = {
    {"default", "none"}, {"origin", "none"},        {"mrope", "none"},
    {"xdrope", "none"},  {"linear", "linear"},      {"dynamic", "dynamic_ntk"},
    {"yarn", "yarn"},    {"deepseek_yarn", "yarn"}, {"longrope", "longrope"},
    {"su", "longrope"},  {"llama3", "llama3"},      {"proportional", "proportional"},
    {"ntk", "ntk_vllm"}};

std::string method_of(const Field<std::string>& type) {
  std::vector<std::string> words;
  for (const Word& word : kWords) {
    if (type.value == word.written) return word.method;
    words.emplace_back(word.written);
  }
  const std::string near = nearest(type.value, words);
  refuse_value(type.at, fmt::format("{}{}", fmt::join(words, ", "),
                                    near.empty() ? "" : fmt::format("; nearest: \"{}\"", near)));
}

std::optional<Field<std::string>> text_in(RopeSet& set, const char* key) {
  if (set.own) {
    if (const auto found = set.own->text({key})) return found;
  }
  return set.shared ? set.shared->text({key}) : std::nullopt;
}

// A parameter that only scalings have.
std::string parameter_in(const RopeSet& set, ScalingCatalog scalings) {
  for (const Member& member : *set.own->node().object()) {
    if (member.value.is_null()) continue;
    for (const ScalingMethodSpec& method : scalings) {
      for (const ScalingParamSpec& param : method.params) {
        if (param.required && member.key == param.name) return member.key;
      }
    }
  }
  return "";
}

}  // namespace

ScalingType read_scaling_type(Model& model, RopeSet& set) {
  ScalingType result;
  if (!set.own) return result;
  const auto rope_type = text_in(set, "rope_type");
  const auto type = text_in(set, "type");
  if (!rope_type && !type) {
    const std::string parameter = parameter_in(set, model.context.scalings);
    if (!parameter.empty()) {
      refuse(set.own->whole(), fmt::format("{} without a rope_type; it may be yarn, linear, "
                                           "dynamic, llama3, longrope, ...",
                                           parameter));
    }
    return result;
  }
  const Field<std::string>& named = rope_type ? *rope_type : *type;
  result = {method_of(named), named.value, named.at};
  if (rope_type && type) {
    if (method_of(*type) != result.method) {
      refuse(rope_type->at,
             fmt::format("rope_type is \"{}\", but type is \"{}\" at {}; write one of the two",
                         rope_type->value, type->value, type->at.pointer));
    }
    model.context.notes->warn(
        rope_type->at.pointer,
        fmt::format("both type and rope_type are there: {} and {}, which mean the same",
                    type->value, rope_type->value));
  }
  const bool base_by_alpha = model.family->alpha_base && set.own->find("alpha");
  const bool length_free = result.method == "dynamic_ntk" || result.written == "xdrope";
  if (base_by_alpha && length_free) {
    model.context.notes->info(
        set.own->trace("alpha").pointer,
        fmt::format("{} with alpha: in {} a fixed base theta * alpha^(r/(r-2)), whatever the "
                    "length",
                    result.written, model.family->type));
    result.method = "ntk";
  }
  return result;
}

}  // namespace rope_bench
