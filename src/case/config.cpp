// The way from a text to cases, as a table of contents.
#include "src/case/config.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "src/case/errors.h"
#include "src/case/expand.h"
#include "src/case/flags.h"
#include "src/case/text_check.h"

namespace rope_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxCases = 1'000'000;

struct Entry {
  Settings settings;
  std::string name;
};

const Setting* find_setting(const Settings& settings, const std::string& path) {
  for (const Setting& setting : settings) {
    if (setting.path == path && !setting.cleared) return &setting;
  }
  return nullptr;
}

std::string text_of(const Settings& settings, const std::string& path) {
  const Setting* setting = find_setting(settings, path);
  return setting && setting->node->text() ? *setting->node->text() : "";
}

std::vector<Entry> read_entries(const KeyTable& table, const Node& root) {
  std::vector<Entry> entries;
  for (const Member& member : *root.object()) {
    if (member.key != "cases" || member.value.is_null()) continue;
    const Node::List* list = member.value.list();
    if (!list || list->empty()) {
      throw ConfigError(
          fmt::format("{}: /cases: {} is not allowed; allowed: a list of at least "
                      "one object",
                      member.value.place(), to_text(member.value)));
    }
    for (size_t i = 0; i < list->size(); ++i) {
      Entry entry;
      entry.settings = flatten(table, (*list)[i], fmt::format("/cases/{}", i));
      check_exclusive(entry.settings);
      entry.name = text_of(entry.settings, "name");
      // The entry's name is its own; the config's name stays.
      std::erase_if(entry.settings, [](const Setting& s) { return s.path == "name"; });
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

std::vector<Suite> make_suites(const Settings& base, const std::vector<Entry>& entries,
                               const Settings& flags) {
  std::vector<Suite> suites;
  if (entries.empty()) suites.push_back({overlay(base, flags), "", {}});
  for (const Entry& entry : entries) {
    Suite suite{overlay(overlay(base, entry.settings), flags), entry.name, {}};
    for (const Setting& setting : entry.settings) suite.entry_values.insert(setting.node);
    suites.push_back(std::move(suite));
  }
  return suites;
}

void require_countable(const std::vector<Suite>& suites, const std::string& label) {
  Int128 count = 0;
  for (const Suite& suite : suites) count += count_cases(suite);
  if (count <= kMaxCases) return;
  std::vector<std::string> axes;
  for (const Setting& setting : suites[0].settings) {
    if (setting.axis)
      axes.push_back(fmt::format("{} {}", setting.path, setting.alternatives.size()));
  }
  throw ConfigError(fmt::format("{}: {}{} cases from axes ({}{}); allowed: at most {}", label,
                                count >= kMaxInt64 ? "more than " : "", saturate(count),
                                fmt::join(axes, " x "), suites.size() > 1 ? ", ..." : "",
                                kMaxCases));
}

void insert(const Setting& setting, Json* into) {
  std::string path = setting.path;
  const bool presence = path.ends_with(".given");
  if (presence) path.resize(path.size() - 6);
  Json* at = into;
  for (size_t dot; (dot = path.find('.')) != std::string::npos; path.erase(0, dot + 1)) {
    Json& child = (*at)[path.substr(0, dot)];
    if (!child.is_object()) child = Json::object();
    at = &child;
  }
  if (!presence) {
    (*at)[path] = setting.cleared ? Json() : to_json(*setting.node);
  } else if (!at->contains(path)) {
    (*at)[path] = Json::object();
  }
}

std::string resolved(const Settings& base, const std::vector<Entry>& entries, const Settings& flags,
                     const std::string& name) {
  Json json = {{"name", name}};
  for (const Setting& setting : overlay(base, flags)) insert(setting, &json);
  for (const Entry& entry : entries) {
    Json object = Json::object();
    if (!entry.name.empty()) object["name"] = entry.name;
    for (const Setting& setting : beneath(entry.settings, flags)) insert(setting, &object);
    json["cases"].push_back(std::move(object));
  }
  return json.dump();
}

}  // namespace

std::string to_text(const ConfigNote& note) {
  std::string text;
  if (!note.file.empty()) text += note.file + ": ";
  if (!note.pointer.empty()) text += note.pointer + ": ";
  return text + note.text;
}

LoadedConfig parse_config(const std::string& text, const std::string& path, ScalingCatalog scalings,
                          const Overrides& overrides, const CaseCheck& check) {
  const Source source{path, text, false};
  return read_config(parse_json(source), path, KeyTable(scalings), overrides, check);
}

LoadedConfig read_config(const Node& root, const std::string& path, const KeyTable& table,
                         const Overrides& overrides, const CaseCheck& check) {
  Arena arena;
  if (!root.object()) {
    throw ConfigError(
        fmt::format("{}: {} is not a config; allowed: a JSON object", root.place(), to_text(root)));
  }
  const Settings base = flatten(table, root, "");
  check_exclusive(base);
  const std::vector<Entry> entries = read_entries(table, root);
  const Settings flags = flag_settings(table, overrides, &arena);
  const std::vector<Suite> suites = make_suites(base, entries, flags);
  require_countable(suites, path);

  LoadedConfig config;
  config.path = path;
  config.name = text_of(overlay(base, flags), "name");
  if (config.name.empty()) config.name = as_utf8(std::filesystem::path(path).stem().string());
  if (config.name.empty()) config.name = "config";
  for (const Suite& suite : suites)
    expand({table, table.scalings(), check, config.name, path, flags}, suite, &config.cases);
  make_unique(&config.cases);
  config.resolved_json = resolved(base, entries, flags, config.name);
  config.warnings = warnings_of(config.cases);
  return config;
}

std::vector<std::string> warnings_of(const std::vector<RopeCase>& cases) {
  std::set<std::string> warnings;
  for (const RopeCase& c : cases) warnings.insert(c.warnings.begin(), c.warnings.end());
  return {warnings.begin(), warnings.end()};
}

std::vector<RopeCase> filter_cases(const std::vector<RopeCase>& cases, const std::string& filter) {
  std::vector<RopeCase> selected;
  for (const RopeCase& c : cases) {
    if (c.name == filter) return {c};
  }
  std::regex pattern;
  try {
    pattern = std::regex(filter, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    // The library's own words name the wrong fault: a missing bracket for a leading star.
    const bool repeats_nothing = std::string("*+?").find(filter[0]) != std::string::npos;
    throw ConfigError(fmt::format(
        "--filter {}: neither the full name of a case nor a regular expression: {}", filter,
        repeats_nothing
            ? fmt::format("nothing stands before {} to repeat; .* is any text", filter[0])
            : std::string("a bracket, a repetition or a backslash is out of place")));
  }
  for (const RopeCase& c : cases) {
    if (std::regex_search(c.name, pattern)) selected.push_back(c);
  }
  return selected;
}

}  // namespace rope_bench
