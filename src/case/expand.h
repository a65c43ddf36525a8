// Axes -> cases, and their names.
#ifndef ROPE_BENCH_SRC_CASE_EXPAND_H_
#define ROPE_BENCH_SRC_CASE_EXPAND_H_

#include <set>
#include <string>
#include <vector>

#include "src/case/checked_math.h"
#include "src/case/config.h"
#include "src/case/resolve.h"

namespace rope_bench {

// One entry of `cases` laid over the config, or the config itself.
struct Suite {
  Settings settings;
  std::string entry_name;              // of the `cases` entry, empty if it has none
  std::set<const Node*> entry_values;  // what an unnamed entry has written
};

// The number of cases a suite stands for.
Int128 count_cases(const Suite& suite);

// What the suites of a config have in common. `label` is the config's in messages.
struct ExpandContext {
  const KeyTable& table;
  ScalingCatalog scalings;
  const CaseCheck& check;
  const std::string& config_name;
  const std::string& label;
  const Settings& flags;  // already laid over the suites: to blame what a flag took away
};

// Appends the cases in order: axes multiply, the first one written varies slowest. A combination
// that is not valid has a skip_reason if one of the clashing values comes from an axis, otherwise
// it is thrown as a ConfigError.
void expand(const ExpandContext& context, const Suite& suite, std::vector<RopeCase>* cases);

// <config>[/<entry>]/<op>/<variant>/<dtype>/T<tokens>[/<key>=<value>...]: every axis but op,
// variant, dtype and tokens is named by the shortest ending of its path that is unique; so is every
// key of a `cases` entry without a name. No spaces; not yet made unique.
std::string case_name(const KeyTable& table, const Suite& suite, const std::vector<size_t>& choice,
                      const RopeCase& c);

// Gives names that occur again the endings #2, #3, ...
void make_unique(std::vector<RopeCase>* cases);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_EXPAND_H_
