#include "tests/case/helpers.h"

namespace rope_bench::testing {
namespace {

ScalingParamSpec number(const char* name, bool required, double min, bool exclusive) {
  ScalingParamSpec param;
  param.name = name;
  param.required = required;
  param.min = min;
  param.min_exclusive = exclusive;
  return param;
}

ScalingParamSpec of_kind(const char* name, ParamKind kind, bool required) {
  ScalingParamSpec param;
  param.name = name;
  param.kind = kind;
  param.required = required;
  return param;
}

std::vector<ScalingMethodSpec> make_catalog() {
  ScalingMethodSpec none{"none", {"default"}, {}, {}, "", "", true};
  ScalingMethodSpec linear{"linear", {}, {number("factor", true, 0, true)}, {}, "", "", true};
  ScalingMethodSpec ntk{"ntk",
                        {"dynamic_alpha"},
                        {number("factor", false, 1, false), number("alpha", false, 1, false)},
                        {"factor", "alpha"},
                        "",
                        "",
                        true};
  ScalingParamSpec rule = of_kind("length_rule", ParamKind::kText, false);
  rule.choices = {"transformers", "vllm"};
  ScalingMethodSpec yarn{
      "yarn",
      {"deepseek_yarn"},
      {number("factor", true, 1, false), number("beta_fast", false, 0, true),
       number("beta_slow", false, 0, true), of_kind("truncate", ParamKind::kFlag, false),
       number("original_max_position_embeddings", false, 1, false), rule},
      {},
      "",
      "",
      false};
  ScalingMethodSpec llama3{
      "llama3",
      {},
      {number("factor", true, 1, false), number("low_freq_factor", true, 0, true),
       number("high_freq_factor", true, 0, true),
       number("original_max_position_embeddings", true, 1, false)},
      {},
      "",
      "",
      false};
  ScalingMethodSpec longrope{"longrope",
                             {"su"},
                             {of_kind("short_factor", ParamKind::kList, true),
                              of_kind("long_factor", ParamKind::kList, true)},
                             {},
                             "",
                             "",
                             false};
  ScalingMethodSpec many{"many", {},   {of_kind("scales", ParamKind::kNumberOrList, true)}, {}, "",
                         "",     false};
  ScalingMethodSpec proportional{"proportional", {}, {number("factor", false, 0, true)}, {}, "", "",
                                 false};
  return {none, linear, ntk, yarn, llama3, longrope, many, proportional};
}

}  // namespace

ScalingCatalog catalog() {
  static const std::vector<ScalingMethodSpec> kCatalog = make_catalog();
  return kCatalog;
}

}  // namespace rope_bench::testing
