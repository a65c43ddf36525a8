// One value per key -> one case.
#ifndef ROPE_BENCH_SRC_CASE_RESOLVE_H_
#define ROPE_BENCH_SRC_CASE_RESOLVE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/case/rope_case.h"
#include "src/case/settings.h"

namespace rope_bench {

// What a single case is made of: at most one value per key.
class Values {
 public:
  explicit Values(const KeyTable& table)
      : table_(&table), assigned_(table.keys().size()), on_axis_(table.keys().size()) {}

  void set(const Assign& assign, bool on_axis) {
    assigned_[static_cast<size_t>(assign.key)] = &assign;
    if (on_axis) mark_axis(assign.key);
  }
  void clear(int key) { assigned_[static_cast<size_t>(key)] = nullptr; }
  void mark_axis(int key) { on_axis_[static_cast<size_t>(key)] = true; }

  const KeyTable& table() const { return *table_; }
  const Assign* assign(int key) const { return assigned_[static_cast<size_t>(key)]; }
  bool on_axis(int key) const { return on_axis_[static_cast<size_t>(key)]; }

  // By dotted path; null if the key has no value.
  const Assign* assign(std::string_view path) const { return assign(table_->find(path)); }
  const Node* node(std::string_view path) const;
  const std::string* word(std::string_view path) const;
  std::optional<int64_t> integer(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  bool flag(std::string_view path, bool otherwise) const;
  std::string word_or(std::string_view path, const char* otherwise) const;
  std::vector<int64_t> integers(std::string_view path) const;  // empty without a list

 private:
  const KeyTable* table_;
  std::vector<const Assign*> assigned_;
  std::vector<bool> on_axis_;
};

// The numbers of a list.
std::vector<int64_t> integers_in(const Node& node);

// Values that do not go together. `keys` are the paths whose values clash, first the one to blame.
struct Problem {
  std::string text;
  std::vector<std::string> keys;
};
using Problems = std::vector<Problem>;

// Everything but `name` and `skip_reason`. Each value is already known to be allowed by itself;
// combinations that are not are added to `problems`, and the case then only describes itself.
RopeCase resolve(const Values& values, ScalingCatalog scalings, const std::string& config_name,
                 Problems* problems, std::set<std::string>* warnings);

// The checks of a complete case: what goes with its op, shapes, strides, positions against the
// table.
void check_op(const RopeCase& c, Problems* problems);
void check_shape(const RopeCase& c, Problems* problems);
void check_positions(const RopeCase& c, Problems* problems);
void check_axes(const RopeCase& c, Problems* problems);

// rope.scaling of a case. Problems are added for a parameter that the method does not have or does
// not allow, for one that is missing and for two types that disagree.
Scaling resolve_scaling(const Values& values, ScalingCatalog scalings, Problems* problems,
                        std::set<std::string>* warnings);
// Lists of a method have one number per pair.
void check_scaling_lists(const RopeCase& c, ScalingCatalog scalings, Problems* problems);
const ScalingMethodSpec* find_method(ScalingCatalog scalings, const std::string& name);

// Throws ConfigError for a scaling parameter that no type of the settings accepts, whatever else
// the axes hold: a value that is invalid by itself.
void check_scaling_values(const KeyTable& table, const Settings& settings, ScalingCatalog scalings);

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_CASE_RESOLVE_H_
