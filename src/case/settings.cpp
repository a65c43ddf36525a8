#include "src/case/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/case/config.h"
#include "src/case/errors.h"
#include "src/case/resolve.h"

namespace rope_bench {
namespace {

// Groups that {} switches off: an empty object says "no such method".
bool empty_is_none(const std::string& path) {
  return path == "rope.scaling" || path == "rope.axes" || path == "rope.query_scale";
}

// Groups whose presence alone means something.
std::string presence_key(const std::string& path) {
  return path == "norm" || path == "varlen" ? path + ".given" : "";
}

[[noreturn]] void refuse(const Node& node, const std::string& pointer, const std::string& allowed) {
  throw ConfigError(fmt::format("{}: {}: {} is not allowed; allowed: {}", node.place(), pointer,
                                to_text(node), allowed));
}

class Flattener {
 public:
  explicit Flattener(const KeyTable& table) : table_(table) {}

  void object(const Node& node, const std::string& group, const std::string& pointer) {
    if (!node.object()) refuse(node, pointer.empty() ? "/" : pointer, "an object");
    for (const Member& member : *node.object()) {
      if (group.empty() && pointer.empty() && member.key == "cases") continue;
      const std::string path = group.empty() ? member.key : group + "." + member.key;
      const std::string here =
          member.value.pointer ? *member.value.pointer : pointer + pointer_token(member.key);
      const int id = table_.find(path);
      if (id >= 0 && !table_[id].hidden) {
        leaf(id, member.value, here, /*each_is_alternative=*/false);
      } else if (table_.group(path)) {
        sub_group(path, member.value, here, /*each_is_alternative=*/false);
      } else {
        unknown(node, member, group, here);
      }
    }
  }

  void leaf(int id, const Node& node, const std::string& pointer, bool each_is_alternative) {
    const Key& key = table_[id];
    Setting setting{key.path, &node, pointer, false, false, {}};
    if (node.is_null()) {
      setting.cleared = true;
    } else if (each_is_alternative || (key.may_be_axis && is_axis(key, node))) {
      if (!key.may_be_axis) refuse(node, pointer, allowed_text(key));
      setting.axis = true;
      if (!node.list() || node.list()->empty())
        refuse(node, pointer, "an axis of at least one value");
      for (size_t i = 0; i < node.list()->size(); ++i) {
        const Node& item = (*node.list())[i];
        const std::string item_pointer = fmt::format("{}/{}", pointer, i);
        setting.alternatives.emplace_back();
        if (item.is_null()) continue;  // absent: the default
        check_value(key, item, item_pointer);
        setting.alternatives.back().push_back({id, &item, item_pointer});
      }
    } else {
      check_value(key, node, pointer);
      setting.alternatives = {{{id, &node, pointer}}};
    }
    settings.push_back(std::move(setting));
  }

  void sub_group(const std::string& path, const Node& node, const std::string& pointer,
                 bool each_is_alternative) {
    if (node.is_null() || (node.object() && node.object()->empty() && empty_is_none(path))) {
      settings.push_back({path, &node, pointer, false, true, {}});
    } else if (node.list() && table_.group(path)->may_be_axis) {
      group_axis(path, node, pointer);
    } else if (each_is_alternative) {
      refuse(node, pointer, "a list of objects");
    } else {
      if (!node.object()) {
        refuse(node, pointer,
               table_.group(path)->may_be_axis ? "an object, or a list of objects" : "an object");
      }
      mark_presence(path, node, pointer);
      object(node, path, pointer);
    }
  }

  Settings settings;

 private:
  void group_axis(const std::string& path, const Node& node, const std::string& pointer) {
    Setting setting{path, &node, pointer, true, false, {}};
    if (node.list()->empty()) refuse(node, pointer, "a list of at least one object");
    for (size_t i = 0; i < node.list()->size(); ++i) {
      const Node& item = (*node.list())[i];
      setting.alternatives.emplace_back();
      if (item.is_null()) continue;
      Flattener inner(table_);
      const std::string item_pointer = fmt::format("{}/{}", pointer, i);
      inner.sub_group(path, item, item_pointer, false);
      check_exclusive(inner.settings);
      for (Setting& part : inner.settings) {
        if (part.axis) {
          throw ConfigError(
              fmt::format("{}: {}: a list within a list of alternatives; write the "
                          "alternatives out",
                          part.node->place(), part.pointer));
        }
        for (std::vector<Assign>& assigns : part.alternatives) {
          for (Assign& assign : assigns) setting.alternatives.back().push_back(std::move(assign));
        }
      }
    }
    settings.push_back(std::move(setting));
  }

  void mark_presence(const std::string& path, const Node& node, const std::string& pointer) {
    const std::string presence = presence_key(path);
    if (presence.empty() || node.is_null()) return;
    const int id = table_.find(presence);
    settings.push_back({presence, &node, pointer, false, false, {{{id, &node, pointer}}}});
  }

  // Names known in `object`. In a scaling with a type: those of that type.
  std::vector<std::string> known_in(const Node& object, const std::string& group) const {
    if (group != "rope.scaling") return table_.names_in(group);
    for (const Member& member : *object.object()) {
      if ((member.key != "type" && member.key != "rope_type") || !member.value.text()) continue;
      const ScalingMethodSpec* method = find_method(table_.scalings(), *member.value.text());
      if (!method) break;
      std::vector<std::string> known = {"type"};
      for (const ScalingParamSpec& param : method->params) known.push_back(param.name);
      return known;
    }
    return table_.names_in(group);
  }

  static bool is_hugging_face(const Node& object) {
    return std::any_of(object.object()->begin(), object.object()->end(), [](const Member& member) {
      return member.key == "architectures" || member.key == "model_type";
    });
  }

  [[noreturn]] void unknown(const Node& object, const Member& member, const std::string& group,
                            const std::string& pointer) const {
    const Source& source = *object.source;
    if (group.empty() && is_hugging_face(object)) {
      throw ConfigError(
          fmt::format("{}: {}: this looks like a Hugging Face config; read it with --hf {}",
                      place(source, member.offset), pointer, source.label));
    }
    if (group.empty() && member.key == "cases") {
      throw ConfigError(
          fmt::format("{}: {}: \"cases\" is not allowed here; an entry of cases "
                      "cannot list cases",
                      place(source, member.offset), pointer));
    }
    std::vector<std::string> known = known_in(object, group);
    // Entries of cases stand in /cases/N.
    if (group.empty() && !pointer.starts_with("/cases/")) known.push_back("cases");
    std::string hint;
    const std::string near = nearest(member.key, known);
    if (!near.empty()) {
      hint = fmt::format("; nearest: \"{}\"", near);
    } else {
      // A known name in the wrong object is a common slip.
      for (const Key& key : table_.keys()) {
        if (!key.hidden && key.path.ends_with("." + member.key)) {
          hint = fmt::format("; nearest: \"{}\"", key.path);
        }
      }
    }
    throw ConfigError(fmt::format("{}: {}: unknown key {}{}; known here: {}",
                                  place(source, member.offset), pointer,
                                  nlohmann::json(member.key).dump(), hint, fmt::join(known, ", ")));
  }

  const KeyTable& table_;
};

bool inside(std::string_view path, std::string_view group) {
  return path.size() > group.size() && path.starts_with(group) && path[group.size()] == '.';
}

struct Pair {
  const char* one;
  const char* other;
};
constexpr Pair kExclusive[] = {{"model.num_kv_heads", "model.gqa_ratio"},
                               {"rope.rotary_dim", "rope.partial_rotary_factor"},
                               {"tokens", "seq_lens"}};

bool same_meaning(const std::string& a, const std::string& b) {
  return std::any_of(std::begin(kExclusive), std::end(kExclusive), [&](const Pair& pair) {
    return (a == pair.one && b == pair.other) || (a == pair.other && b == pair.one);
  });
}

// The group that `setting` starts afresh, if it does.
std::string restarted_group(const Setting& setting) {
  if (setting.axis || setting.cleared) return "";
  if (setting.path == "rope.scaling.type" || setting.path == "rope.scaling.rope_type") {
    return "rope.scaling";
  }
  return setting.path == "rope.axes.kind" ? "rope.axes" : "";
}

bool replaces(const Setting& over, const Setting& base) {
  if (over.path == base.path || same_meaning(over.path, base.path)) return true;
  if (inside(base.path, over.path) || inside(over.path, base.path)) return true;
  const std::string group = restarted_group(over);
  return !group.empty() && inside(base.path, group);
}

}  // namespace

Settings flatten(const KeyTable& table, const Node& object, const std::string& pointer) {
  Flattener flattener(table);
  flattener.object(object, "", pointer);
  return std::move(flattener.settings);
}

Settings flatten_path(const KeyTable& table, const std::string& path, const Node& value,
                      bool each_is_alternative) {
  Flattener flattener(table);
  const int id = table.find(path);
  if (id >= 0) {
    flattener.leaf(id, value, pointer_of(path), each_is_alternative);
  } else {
    flattener.sub_group(path, value, pointer_of(path), each_is_alternative);
  }
  return std::move(flattener.settings);
}

Settings overlay(const Settings& base, const Settings& over) {
  Settings result;
  std::vector<bool> placed(over.size());
  for (const Setting& setting : base) {
    bool replaced = false;
    for (size_t i = 0; i < over.size(); ++i) {
      if (!replaces(over[i], setting)) continue;
      replaced = true;
      if (over[i].path == setting.path && !placed[i]) {
        placed[i] = true;
        if (!over[i].cleared) result.push_back(over[i]);
      }
    }
    if (!replaced && !setting.cleared) result.push_back(setting);
  }
  for (size_t i = 0; i < over.size(); ++i) {
    if (!placed[i] && !over[i].cleared) result.push_back(over[i]);
  }
  return result;
}

Settings beneath(const Settings& entry, const Settings& flags) {
  Settings result;
  for (const Setting& setting : entry) {
    const bool replaced = std::any_of(flags.begin(), flags.end(),
                                      [&](const Setting& flag) { return replaces(flag, setting); });
    if (!replaced) result.push_back(setting);
  }
  const Settings kept = result;
  for (const Setting& flag : flags) {
    const bool lost = std::any_of(kept.begin(), kept.end(),
                                  [&](const Setting& setting) { return replaces(setting, flag); });
    if (lost) result.push_back(flag);
  }
  return result;
}

void check_exclusive(const Settings& settings) {
  for (const Setting& one : settings) {
    for (const Setting& other : settings) {
      if (one.cleared || other.cleared || !same_meaning(one.path, other.path)) continue;
      // Together they say how many padding tokens there are.
      if (one.path == "tokens" || other.path == "tokens") continue;
      if (one.node == other.node || &one > &other) continue;
      throw ConfigError(fmt::format("{}: {}: given together with {}; write one of the two",
                                    other.node->place(), other.pointer, one.pointer));
    }
  }
}

}  // namespace rope_bench
