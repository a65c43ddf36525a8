#include "src/case/expand.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/case/errors.h"

namespace rope_bench {
namespace {

// A list of objects is an axis for all keys of the group.
void mark_axis(const KeyTable& table, const Setting& setting, Values* values) {
  const std::vector<Key>& keys = table.keys();
  for (size_t id = 0; id < keys.size(); ++id) {
    const bool inside =
        keys[id].path == setting.path || keys[id].path.starts_with(setting.path + ".");
    if (inside) values->mark_axis(static_cast<int>(id));
  }
}

bool from_axis(const Problem& problem, const Values& values) {
  return std::any_of(problem.keys.begin(), problem.keys.end(), [&](const std::string& path) {
    const int id = values.table().find(path);
    return id >= 0 && values.on_axis(id);
  });
}

// A text of CaseCheck as a problem of the keys that shape frequencies, first the one it blames. The
// length counts only where the text says so: it is swept by most configs and matters to few
// methods.
Problem mathematical_problem(const std::string& text, const Values& values) {
  const std::string blamed = text.substr(0, text.find(':'));
  Problem problem{
      text,
      {"rope.scaling.type", "rope.theta", "rope.rotary_dim", "rope.partial_rotary_factor",
       "rope.pairing", "model.head_dim", "model.max_position", "rope.axes.kind"}};
  for (const Key& key : values.table().keys()) {
    if (key.path.starts_with("rope.scaling.")) problem.keys.push_back(key.path);
  }
  if (blamed == "rope.seq_len") {
    for (const char* key : {"tokens", "seq_lens", "positions", "position_offset"}) {
      problem.keys.emplace_back(key);
    }
  }
  if (values.table().find(blamed) >= 0) {
    problem.keys.insert(problem.keys.begin(), blamed);
    // The pointer will name it.
    if (values.assign(blamed)) problem.text = text.substr(std::min(blamed.size() + 2, text.size()));
  }
  return problem;
}

[[noreturn]] void throw_problem(const Problem& problem, const Values& values,
                                const ExpandContext& context) {
  for (const std::string& path : problem.keys) {
    const Assign* assign = values.assign(path);
    if (!assign) continue;
    throw ConfigError(
        fmt::format("{}: {}: {}", assign->value->place(), assign->pointer, problem.text));
  }
  std::string label = context.label;
  for (const Setting& flag : context.flags) {
    if (flag.cleared && flag.path == problem.keys[0]) label = flag.node->place();
  }
  throw ConfigError(fmt::format("{}: {}: {}", label, pointer_of(problem.keys[0]), problem.text));
}

}  // namespace

Int128 count_cases(const Suite& suite) {
  int64_t count = 1;
  for (const Setting& setting : suite.settings) {
    count = saturating_mul(count, static_cast<int64_t>(setting.alternatives.size()));
  }
  return count;
}

void expand(const ExpandContext& context, const Suite& suite, std::vector<RopeCase>* cases) {
  const KeyTable& table = context.table;
  const Settings& settings = suite.settings;
  check_exclusive(settings);
  check_scaling_values(table, settings, context.scalings);
  Values fixed(table);
  for (const Setting& setting : settings) {
    if (setting.axis) mark_axis(table, setting, &fixed);
  }
  std::vector<size_t> choice(settings.size(), 0);
  for (bool more = true; more;) {
    Values values = fixed;
    for (size_t i = 0; i < settings.size(); ++i) {
      for (const Assign& assign : settings[i].alternatives[choice[i]]) {
        values.set(assign, settings[i].axis);
      }
    }
    Problems problems;
    std::set<std::string> warnings;
    RopeCase c = resolve(values, context.scalings, context.config_name, &problems, &warnings);
    c.warnings.assign(warnings.begin(), warnings.end());
    if (problems.empty() && context.check) {
      const std::string text = context.check(c);
      if (!text.empty()) problems.push_back(mathematical_problem(text, values));
    }
    for (const Problem& problem : problems) {
      if (!from_axis(problem, values)) throw_problem(problem, values, context);
    }
    if (!problems.empty()) c.skip_reason = problems[0].text;
    c.name = case_name(table, suite, choice, c);
    cases->push_back(std::move(c));
    // The next combination, like an odometer: the last axis turns fastest.
    more = false;
    for (size_t i = settings.size(); i-- > 0;) {
      if (++choice[i] < settings[i].alternatives.size()) {
        more = true;
        break;
      }
      choice[i] = 0;
    }
  }
}

}  // namespace rope_bench
