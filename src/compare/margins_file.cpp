#include "src/compare/margins_file.h"

#include <cmath>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "src/case/errors.h"
#include "src/compare/results_file.h"
#include "src/report/format.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMarginsVersion = 1;

std::string key_of(const std::string& name, const std::string& variant, const std::string& dtype,
                   const std::string& cache) {
  return name + '\0' + variant + '\0' + dtype + '\0' + cache;
}

Json percent(double margin) { return margin > 0 ? Json(100 * margin) : Json(); }

}  // namespace

void Margins::add(const CaseMargin& m) { cases_[key_of(m.name, m.variant, m.dtype, m.cache)] = m; }

const CaseMargin* Margins::find(const std::string& name, const std::string& variant,
                                const std::string& dtype, const std::string& cache) const {
  const auto found = cases_.find(key_of(name, variant, dtype, cache));
  return found == cases_.end() ? nullptr : &found->second;
}

std::string Margins::json() const {
  Json cases = Json::array();
  for (const auto& [key, m] : cases_) {
    cases.push_back({{"name", m.name},
                     {"variant", m.variant},
                     {"dtype", m.dtype},
                     {"cache", m.cache},
                     {"compare_margin_percent", percent(m.compare)},
                     {"gate_margin_percent", percent(m.gate)}});
  }
  return dump({{"margins_version", kMarginsVersion},
               {"device_model", device_model_},
               {"cases", std::move(cases)}},
              2) +
         "\n";
}

Margins read_margins(const std::string& path) {
  const std::string text = read_text(path);
  const auto refuse = [&](const std::string& why) {
    throw ConfigError(
        fmt::format("{}: {}; allowed: what `rope-bench calibrate` writes", path, why));
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) refuse("not JSON, or truncated");
  if (!json.is_object() || !json.contains("margins_version")) refuse("no margins");
  if (json["margins_version"] != kMarginsVersion)
    refuse("margins_version " + json["margins_version"].dump());
  try {
    Margins margins(json.at("device_model"));
    const Json& cases = json.at("cases");
    if (!cases.is_array() || cases.empty()) refuse("cases are no list, or none");
    for (const Json& one : cases) {
      CaseMargin m{one.at("name"), one.at("variant"), one.at("dtype"), one.at("cache")};
      for (const auto& [key, margin] : {std::pair("compare_margin_percent", &m.compare),
                                        std::pair("gate_margin_percent", &m.gate)}) {
        if (one.at(key).is_null()) continue;
        const double percent = one.at(key);
        if (!(percent > 0 && percent < 100)) refuse(fmt::format("{} {}", key, percent));
        *margin = percent / 100;
      }
      if (margins.find(m.name, m.variant, m.dtype, m.cache)) refuse(m.name + " twice");
      margins.add(m);
    }
    return margins;
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception...] key 'name' not found"
    refuse(what.substr(what.find(']') + 2));
  }
  return {};
}

void require_margins_of(const Margins& margins, const std::string& path,
                        const std::string& device_model) {
  if (margins.device_model() == device_model) return;
  throw ConfigError(fmt::format("{}: margins of \"{}\", results of \"{}\"; calibrate there", path,
                                margins.device_model(), device_model));
}

}  // namespace rope_bench
